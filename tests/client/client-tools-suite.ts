/** Runs whose tools the library calls, in front of a scripted model. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type FaultProxy, startFaultProxy } from "../support/fakes/fault-proxy.ts";
import type { Script } from "../support/fakes/openai.ts";
import { provideChatServer } from "../support/harness/chat-browser.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { readGuideCode } from "../support/harness/guide-code.ts";
import { type PackedClient, runCommand } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";

const execute = promisify(execFile);

/** @param packed the package, installed */
export function clientToolsSuite(packed: () => PackedClient): void {
  const place = provideChatServer();
  let proxy: FaultProxy;
  let person: Person;
  beforeAll(async () => {
    [proxy, person] = await Promise.all([
      startFaultProxy(Number(new URL(place.server.url).port)),
      createPerson(place.server.url),
    ]);
  });
  afterAll(() => proxy?.close());

  type Options = Partial<Parameters<PackedClient["module"]["createClient"]>[0]>;
  const connect = (options: Options = {}) =>
    packed().module.createClient({ baseUrl: place.server.url, apiKey: person.key, ...options });

  const inputSchema = z.object({ isrc: z.string(), market: z.string().default("DE") });
  const clientTools = [
    { name: "look_up_track", description: "Looks a track up in the catalog", inputSchema },
    {
      name: "play",
      description: "Plays a track",
      inputSchema: { type: "object", properties: { isrc: { type: "string" } } },
    },
  ];
  const track = { isrc: "QZ1AB2600001" };

  /** One model call for each list of tools, which are called at once. */
  const calling = (...steps: readonly (readonly string[])[]): Script =>
    function* ({ step }) {
      const tools = steps[step];
      if (!tools) yield { text: "Done" };
      else yield* tools.map((tool, at) => ({ tool, input: track, id: `call_${at}` }));
    };
  /** The results that the model has got in the end, oldest first. */
  const resultsOf = (script: string): unknown[] =>
    (place.model.callsOf(script).at(-1)?.toolResults ?? []).map((text) => JSON.parse(text));

  it("calls the tools of a step at once, and those of the next one under the same ids", async () => {
    place.model.script("steps", calling(["look_up_track", "play"], ["look_up_track"]));
    const calls: string[] = [];
    const bothRun = Promise.withResolvers<void>();
    const { status, required_action } = await connect().run({
      prompt: "[script:steps]",
      clientTools,
      async onToolCall({ id, name, input }) {
        expect(input).toEqual(track);
        calls.push(`${id} ${name}`);
        if (calls.length === 2) bothRun.resolve();
        await bothRun.promise;
        return name === "play" ? undefined : { title: "Nightjar", calls: calls.length };
      },
    });
    expect({ status, required_action }).toEqual({ status: "completed", required_action: null });
    expect(calls).toEqual(["call_0 look_up_track", "call_1 play", "call_0 look_up_track"]);
    expect(resultsOf("steps")).toEqual([
      { title: "Nightjar", calls: 2 },
      null,
      { title: "Nightjar", calls: 3 },
    ]);
    const { toolSchemas } = place.model.callsOf("steps")[0] ?? {};
    expect(toolSchemas?.look_up_track).toMatchObject({ type: "object", required: ["isrc"] });
    expect(toolSchemas?.play).toEqual(clientTools[1]?.inputSchema);
  });

  it.each<[string, () => unknown, string]>([
    ["error", () => Promise.reject(new Error("No such track")), "No such track"],
    [
      "text",
      () => {
        throw "No speakers";
      },
      "No speakers",
    ],
    ["long-message", () => Promise.reject(new Error("x".repeat(20_000))), "xxxxx"],
    ["bigint", () => 1n, "Do not know how to serialize a BigInt"],
  ])("tells the agent why a tool failed: %s", async (script, onToolCall, error) => {
    place.model.script(script, calling(["play"]));
    const prompt = `[script:${script}]`;
    const { status } = await connect().run({ prompt, clientTools, onToolCall });
    expect(status).toBe("completed");
    expect(place.model.callsOf(script)[1]?.toolResults.join()).toContain(error);
  });

  describe("sends a result until it has arrived,", () => {
    it("when there is no connection", async () => {
      place.model.script("refused", calling(["play"]));
      let retries = 0;
      const client = connect({
        baseUrl: proxy.url,
        onRetry: () => {
          if (++retries === 3) proxy.open();
        },
      });
      const { status } = await client.run({
        prompt: "[script:refused]",
        clientTools,
        onToolCall() {
          proxy.refuse();
          proxy.cutAll();
          return "played";
        },
      });
      expect(status).toBe("completed");
      expect(retries).toBeGreaterThanOrEqual(3);
      expect(resultsOf("refused")).toEqual(["played"]);
    });

    const refuse = async (status: number, headers: Record<string, string>) =>
      new Response("{}", { status, headers });
    it.each<[string, (request: Request) => Promise<Response>]>([
      [
        "when the response is lost",
        (request) => fetch(request).then(() => Promise.reject(new TypeError("fetch failed"))),
      ],
      [
        "when an earlier attempt still runs",
        () => refuse(409, { "x-error-code": "idempotency_in_progress" }),
      ],
      ["when the account has too many turns", () => refuse(429, { "retry-after": "1" })],
    ])("%s", async (script, firstAnswer) => {
      const name = script.replaceAll(" ", "-");
      place.model.script(name, calling(["play"]));
      let requests = 0;
      const client = connect({
        fetch(request) {
          if (!request.url.endsWith("/tool_results")) return fetch(request);
          return ++requests === 1 ? firstAnswer(request) : fetch(request);
        },
      });
      let calls = 0;
      const prompt = `[script:${name}]`;
      const onToolCall = () => ++calls;
      expect(await client.run({ prompt, clientTools, onToolCall })).toMatchObject({
        status: "completed",
      });
      expect(calls).toBe(1);
      expect(requests).toBe(2);
      expect(resultsOf(name)).toEqual([1]);
    });
  });

  it("runs a tool again whose result a client has not sent, with waitForRun", async () => {
    place.model.script("unsent", calling(["look_up_track", "play"]));
    const crash = new AbortController();
    let runId = "";
    const crashed = connect().run({
      prompt: "[script:unsent]",
      clientTools,
      signal: crash.signal,
      onState: (run) => {
        runId = run.runId;
      },
      async onToolCall({ name }) {
        if (name === "look_up_track") return "by the first";
        const answered = async () =>
          (await connect().waitForRun(runId)).required_action?.tool_calls.length;
        await expect.poll(answered).toBe(1);
        crash.abort(new Error("crashed"));
        return "never sent";
      },
    });
    await expect(crashed).rejects.toThrow("crashed");
    const calls: string[] = [];
    const { status } = await connect().waitForRun(runId, {
      async onToolCall({ name }) {
        calls.push(name);
        return "by the second";
      },
    });
    expect({ status, calls }).toEqual({ status: "completed", calls: ["play"] });
    expect(resultsOf("unsent")).toEqual(["by the first", "by the second"]);
  });

  it("continues when another client is faster, also while the next call is open", async () => {
    place.model.script("faster", function* ({ step }) {
      if (step < 2) yield { tool: "play", input: track, id: `step_${step}` };
      else yield { text: "Done" };
    });
    const nextCall = Promise.withResolvers<void>();
    const slowerWasRefused = Promise.withResolvers<void>();
    const statuses: number[] = [];
    const client = connect({
      async fetch(request) {
        const response = await fetch(request);
        if (!request.url.endsWith("/tool_results")) return response;
        statuses.push(response.status);
        slowerWasRefused.resolve();
        return response;
      },
    });
    let runId = "";
    const { status } = await client.run({
      prompt: "[script:faster]",
      clientTools,
      onState: (run) => {
        runId = run.runId;
      },
      async onToolCall({ id }) {
        if (id === "step_1") {
          nextCall.resolve();
          await slowerWasRefused.promise;
          return "second";
        }
        const results = [{ id, output: "faster" }];
        await person.withKey.post(`/api/chat/runs/${runId}/tool_results`, { results });
        await nextCall.promise;
        return "slower";
      },
    });
    expect({ status, statuses }).toEqual({ status: "completed", statuses: [409, 200] });
    expect(resultsOf("faster")).toEqual(["faster", "second"]);
  });

  it("does not wait for the tools of a run that has ended", async () => {
    place.model.script("ended", calling(["play"]));
    const client = connect();
    let runId = "";
    const run = await client.run({
      prompt: "[script:ended]",
      clientTools,
      onState: (state) => {
        runId = state.runId;
      },
      async onToolCall() {
        await person.withKey.post(`/api/chat/runs/${runId}/cancel`);
        return new Promise(() => {});
      },
    });
    expect(run.status).toBe("cancelled");
  });

  it("throws what the service refuses about an open call", async () => {
    place.model.script("invalid", calling(["play"]));
    const onToolCall = () => "\0";
    const run = connect().run({ prompt: "[script:invalid]", clientTools, onToolCall });
    await expect(run).rejects.toMatchObject({ name: "ApiError", status: 400 });
  });

  it("works as the guide says", async () => {
    const file = join(packed().folder, "guide.ts");
    await writeFile(file, await readGuideCode("client-tools.md", "ts"));
    const env = { PATH: process.env.PATH, NODE_ENV: "production", API: stack.url } as const;
    const { key } = await createPerson();
    const { stdout } = await execute(process.execPath, [file], { env: { ...env, KEY: key } });
    expect(stdout).toBe("completed\n");
  });

  it("without onToolCall, it and the command line return the open calls", async () => {
    place.model.script("open", calling(["look_up_track"]));
    const run = await connect().run({ prompt: "[script:open]", clientTools });
    expect(run).toMatchObject({
      status: "requires_action",
      finishedAt: null,
      required_action: { tool_calls: [{ id: "call_0", name: "look_up_track", input: track }] },
    });
    const env = { AGENT_PLATFORM_URL: place.server.url, AGENT_PLATFORM_API_KEY: person.key };
    const read = (...more: string[]) =>
      runCommand(packed(), ["runs", "get", run.runId, ...more], { env });
    const stderr = `The run waits for the results of its client tools: POST /api/chat/runs/${run.runId}/tool_results\n`;
    const stdout = `call_0  look_up_track  ${JSON.stringify(track)}\n`;
    expect(await read()).toEqual({ code: 1, stdout, stderr });
    const json = await read("--json");
    expect(json).toMatchObject({ code: 1, stderr });
    expect(JSON.parse(json.stdout)).toEqual(run);
  });
}
