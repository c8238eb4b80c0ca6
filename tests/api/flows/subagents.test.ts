/**
 * Work beside a turn: subagents, each a conversation within a tool call, long commands, and titles.
 * This file is long because its tests share one server with its own sandbox.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeOpenAI, gate, startFakeOpenAI } from "../../support/fakes/openai.ts";
import { type FakeVercel, startFakeVercel } from "../../support/fakes/vercel-sandbox.ts";
import { readResult } from "../../support/fixtures/shown-result.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql } from "../../support/harness/stack.ts";
import { textOf } from "../../support/harness/turn-stream.ts";

let model: FakeOpenAI;
let folder: string;
let vercel: FakeVercel;
let server: Awaited<ReturnType<typeof startServer>>;
let caller: Client;
beforeAll(async () => {
  model = await startFakeOpenAI();
  folder = await mkdtemp(join(tmpdir(), "subagents-"));
  vercel = await startFakeVercel(folder);
  const redirect = join(import.meta.dirname, "../../support/harness/redirect-fetch.ts");
  server = await startServer({
    env: {
      ...{ OPENAI_BASE_URL: model.url, FAST_MODEL: "fake-small" },
      // Its sandbox has the output of a command before the command ends.
      ...{ VERCEL_TOKEN: "token", VERCEL_TEAM_ID: "team", VERCEL_PROJECT_ID: "project" },
      REDIRECTS: JSON.stringify({ "https://vercel.com": vercel.origin }),
      NODE_OPTIONS: `--no-warnings --import=${redirect}`,
    },
  });
  caller = (await createPerson(server.url)).withKey;
});
afterAll(async () => {
  await model?.close();
  await server?.stop();
  await vercel?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A turn that hands out the pieces of work, then answers. */
const delegate = (name: string, ...works: readonly object[]) =>
  model.script(name, function* ({ step }) {
    if (step > 0) yield { text: "All reported." };
    else for (const work of works) yield { tool: "task", input: work };
  });

const pathOf = ({ sessionId, chatId }: Conversation) =>
  `/api/sessions/${sessionId}/chats/${chatId}`;

/** A chat that has a title, so no model is asked for one. */
async function openTitled(): Promise<Conversation> {
  const conversation = await openConversation(caller);
  await caller.patch(pathOf(conversation), { title: "Work" });
  return conversation;
}

const send = async (script: string) => {
  const conversation = await openTitled();
  const stream = await conversation.send(`[script:${script}]`);
  await stream.ended;
  const parts = (await conversation.answer()).parts.filter(({ type }) => type === "tool-task");
  return { conversation, stream, reports: parts.map((part) => Object(part).output) };
};

describe("a subagent", () => {
  it("works in the same sandbox, shows its progress, reports, and is in the trace", async () => {
    delegate("works", { task: "Count to three", instructions: "[script:counter] count" });
    model.script("counter", function* ({ step, tools }) {
      expect(tools.toSorted()).toEqual(["bash", "edit", "glob", "grep", "read", "write"]);
      if (step < 3) yield { tool: "bash", input: { command: `echo ${step} >> count` } };
      else yield { text: "Counted." };
    });
    const { conversation, stream, reports } = await send("works");
    expect(reports).toEqual([{ result: "Counted.", steps: 4 }]);
    expect(textOf(await conversation.answer())).toBe("All reported.");
    const query = new URLSearchParams({ sessionId: conversation.sessionId, path: "count" });
    expect((await caller.get(`/api/sandbox/files/content?${query}`)).text).toBe("0\n1\n2\n");

    const shown = stream.chunks.flatMap((chunk) =>
      chunk.type === "tool-output-available" && chunk.preliminary ? [Object(chunk.output)] : [],
    );
    expect(shown[0]).toEqual({ title: "Count to three", steps: [], text: "" });
    expect(shown.at(-1)).toEqual({
      title: "Count to three",
      steps: [0, 1, 2].map((n) => ({ tool: "bash", summary: `echo ${n} >> count` })),
      text: "Counted.",
    });

    const { body } = await caller.get(`/api/chat/runs/${stream.runId}/steps`);
    const { run, steps } = Object(body);
    expect(steps[0].tool_calls).toMatchObject([
      {
        name: "task",
        state: "completed",
        steps: [0, 1, 2, 3].map((index) => ({
          index,
          tool_calls: index < 3 ? [{ name: "bash", state: "completed" }] : [],
        })),
      },
    ]);
    const ofSubagent = `tool_call_id=${steps[0].tool_calls[0].id}&subagent_index=3`;
    const call = await caller.get(`/api/chat/runs/${stream.runId}/steps/0?${ofSubagent}`);
    expect(call.body).toMatchObject({
      as_sent: { instructions: true, messages: true, tools: true },
      messages: {
        length: 7,
        0: { role: "user", parts: [{ text: expect.stringMatching(/count$/) }] },
      },
      answer: [{ type: "text", text: "Counted." }],
    });
    const own = steps.map((step: { usage: { input_tokens: number } }) => step.usage.input_tokens);
    const total = run.usage.input_tokens;
    expect(total).toBeGreaterThan(own[0] + own[1]);
    const calls = [...model.callsOf("works"), ...model.callsOf("counter")];
    expect(total).toBe(calls.reduce((sum, { usage }) => sum + (usage?.prompt_tokens ?? 0), 0));
  });

  it("ends after 30 steps, has no tools beyond its own, and may use the fast model", async () => {
    delegate(
      "limits",
      { task: "Never ends", instructions: "[script:forever]" },
      { task: "Nests", instructions: "[script:nests]", model: "fast" },
    );
    model.script("forever", function* () {
      yield { tool: "glob", input: { pattern: "*" } };
    });
    model.script("nests", function* ({ step, toolResults }) {
      if (step === 0) yield { tool: "task", input: { task: "x", instructions: "y" } };
      else yield { text: String(toolResults[0]) };
    });
    const { reports } = await send("limits");
    expect(reports[0]).toMatchObject({ steps: 30, result: expect.stringContaining("30 steps") });
    expect(model.callsOf("forever")).toHaveLength(30);
    expect(reports[1].steps).toBe(2);
    expect(model.callsOf("nests").map((call) => call.model)).toEqual(["fake-small", "fake-small"]);
  });

  it("whose model fails says why", async () => {
    delegate("fails", { task: "Fails", instructions: "[script:failing]" });
    model.script("failing", function* () {
      yield { fail: 401, message: "org-4711" };
    });
    const { reports } = await send("fails");
    expect(reports).toEqual([{ error: expect.stringContaining("rejected this server's API key") }]);
  });

  it("makes no call over a budget that was set since it started", async () => {
    const { id, withKey } = await createPerson(server.url);
    delegate("outspent", { task: "Spends", instructions: "[script:spends]" });
    model.script("spends", async function* ({ step }) {
      if (step === 1) {
        await sql`update accounts set monthly_budget_usd = 0, allow_unpriced_models = true
          where id = ${id}`;
      }
      yield { tool: "glob", input: { pattern: "*" } };
    });
    const stream = await (await openConversation(withKey)).send("[script:outspent]");
    await stream.ended;
    expect(model.callsOf("spends")).toHaveLength(2);
    expect(stream.chunks.at(-1)).toMatchObject({
      messageMetadata: { error: "budget_reached: Monthly budget reached" },
    });
  });

  it("is one of at most four at the same time, and stops with its turn", async () => {
    const held = gate();
    const four = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    delegate(
      "many",
      ...Array.from({ length: 6 }, (_, n) => ({
        task: `Work ${n}`,
        instructions: "[script:waits]",
      })),
    );
    model.script("waits", async function* () {
      running++;
      most = Math.max(most, running);
      if (running === 4) four.resolve();
      await held.pass();
      running--;
      yield { text: "Done." };
    });
    const conversation = await openTitled();
    const stream = await conversation.send("[script:many]");
    await four.promise;
    await conversation.stop();
    await stream.ended;
    expect(most).toBe(4);
    const parts = (await conversation.answer()).parts.filter(({ type }) => type === "tool-task");
    for (const part of parts) expect(Object(part).state).toBe("output-error");
    held.open();
  });
});

describe("a command that takes long", () => {
  it("shows its output until now, which its result replaces", async () => {
    const command =
      'echo first; echo "$AGENT_API_AUTH_HEADER"; until [ -e go ]; do sleep 0.1; done; echo second';
    model.script("slow-command", function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command } };
      else yield { text: "Done." };
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:slow-command]");
    const isOutput = ({ type }: { type: string }) => type === "tool-output-available";
    const { chunk } = await stream.until(isOutput);
    const output = { stdout: "first\n[redacted]\n", stderr: "" };
    expect(chunk).toMatchObject({ preliminary: true, output });
    const resumed = await conversation.resume();
    await writeFile(join(folder, conversation.sessionId, "vercel", "sandbox", "go"), "");
    await stream.ended;
    await resumed.ended;
    expect(resumed.chunks).toEqual(stream.chunks);
    const result = {
      ...{ exitCode: 0, stdout: "first\n[redacted]\nsecond\n", stderr: "", truncated: false },
    };
    const outputs = stream.chunks.filter(isOutput);
    expect(outputs).toMatchObject([{ output }, { output: result }]);
    const parts = (await conversation.answer()).parts.filter(({ type }) => type === "tool-bash");
    expect(parts).toMatchObject([{ state: "output-available", output: result }]);
    expect(JSON.stringify(parts)).not.toContain("preliminary");
    const [, second] = model.callsOf("slow-command");
    expect(second?.toolResults.map(readResult)).toEqual([result]);
  });
});

describe("a command of a subagent that takes long", () => {
  it("shows its output until now in the progress of its subagent", async () => {
    delegate("waits", { task: "Wait", instructions: "[script:waiting]" });
    const command = 'echo "$AGENT_API_AUTH_HEADER"; until [ -e go ]; do sleep 0.1; done';
    model.script("waiting", function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command } };
      else yield { text: "Waited." };
    });
    const conversation = await openTitled();
    const stream = await conversation.send("[script:waits]");
    const { chunk } = await stream.until((one) => "output" in one && Object(one.output).output);
    expect(chunk).toMatchObject({
      preliminary: true,
      output: { title: "Wait", output: { stdout: "[redacted]\n", stderr: "" } },
    });
    await writeFile(join(folder, conversation.sessionId, "vercel", "sandbox", "go"), "");
    await stream.ended;
    const parts = (await conversation.answer()).parts.filter(({ type }) => type === "tool-task");
    expect(parts).toMatchObject([{ output: { result: "Waited.", steps: 2 } }]);
  });
});

describe("a chat without a title", () => {
  const titleCalls = (script: string) =>
    model.callsOf(script).filter(({ tools }) => tools.length === 0);
  const titleOf = async (conversation: Conversation) => (await conversation.read()).chat.title;
  const usageOf = async (runId: string) => {
    const { body } = await caller.get(`/api/chat/runs/${runId}/steps`);
    return Object(body).run.usage.input_tokens;
  };

  it("gets one from the fast model after its first answer, once, as a part of the usage", async () => {
    model.script("titled", function* ({ tools, userText }) {
      if (tools.length > 0) yield { text: "Here is the plan." };
      else {
        expect(userText).toContain("Here is the plan.");
        yield {
          text: `\n\n "**Release\u0007 plan \u202efor Mara Vale** ${"and more ".repeat(9)}"\nNo`,
        };
      }
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:titled] Plan the release");
    await stream.ended;
    const title = "Release plan for Mara Vale** and more and more and more…";
    await expect.poll(() => titleOf(conversation)).toBe(title);
    const [call] = titleCalls("titled");
    expect(call?.model).toBe("fake-small");
    const used = model
      .callsOf("titled")
      .reduce((sum, { usage }) => sum + (usage?.prompt_tokens ?? 0), 0);
    expect(await usageOf(stream.runId)).toBe(used);
    await (await conversation.send("[script:titled] And now?")).ended;
    expect(titleCalls("titled")).toHaveLength(1);
  });

  it("keeps the title that a person gives it while the model writes one", async () => {
    const held = gate();
    model.script("renamed", async function* ({ tools }) {
      if (tools.length === 0) await held.pass();
      yield { text: "Written by the model" };
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:renamed] Begin");
    await stream.ended;
    await held.reached;
    expect(await titleOf(conversation)).toBe("[script:renamed] Begin");
    await caller.patch(pathOf(conversation), { title: "Mine" });
    const before = await usageOf(stream.runId);
    held.open();
    await expect.poll(() => usageOf(stream.runId)).toBeGreaterThan(before);
    expect(await titleOf(conversation)).toBe("Mine");
  });

  it("keeps the start of its message when the budget is spent, or the model fails", async () => {
    const { id, withKey } = await createPerson(server.url);
    model.script("spent", async function* ({ tools }) {
      expect(tools).not.toEqual([]);
      yield { text: "Costly" };
      await sql`update accounts set monthly_budget_usd = 1, allow_unpriced_models = true
        where id = ${id}`;
      await sql`insert into usage_months (account_id, month, cost_usd) values (${id}, usage_month(), 1)`;
    });
    model.script("untitled", function* ({ tools }) {
      if (tools.length > 0) yield { text: "Fine" };
      else yield { fail: 401 };
    });
    for (const [script, by] of [
      ["spent", withKey],
      ["untitled", caller],
    ] as const) {
      const conversation = await openConversation(by);
      const stream = await conversation.send(`[script:${script}] Begin`);
      await stream.ended;
      // The first of them had all the time of the second one.
      if (by === caller) await expect.poll(() => titleCalls(script)).not.toEqual([]);
      expect(await titleOf(conversation)).toBe(`[script:${script}] Begin`);
    }
    expect(titleCalls("spent")).toEqual([]);
  });
});
