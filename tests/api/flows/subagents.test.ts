/** Subagents: a conversation of their own within a tool call. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeOpenAI, gate, startFakeOpenAI } from "../../support/fakes/openai.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { startServer } from "../../support/harness/server.ts";
import { textOf } from "../../support/harness/turn-stream.ts";

let model: FakeOpenAI;
let server: Awaited<ReturnType<typeof startServer>>;
let caller: Client;
beforeAll(async () => {
  model = await startFakeOpenAI();
  server = await startServer({ env: { OPENAI_BASE_URL: model.url, FAST_MODEL: "fake-small" } });
  caller = (await createPerson(server.url)).withKey;
});
afterAll(async () => {
  await model?.close();
  await server?.stop();
});

/** A turn that hands out the pieces of work, then answers. */
const delegate = (name: string, ...works: readonly object[]) =>
  model.script(name, function* ({ step }) {
    if (step > 0) yield { text: "All reported." };
    else for (const work of works) yield { tool: "task", input: work };
  });

const send = async (script: string) => {
  const conversation = await openConversation(caller);
  const stream = await conversation.send(`[script:${script}]`);
  await stream.ended;
  const parts = (await conversation.answer()).parts.filter(({ type }) => type === "tool-task");
  return { conversation, stream, reports: parts.map((part) => Object(part).output) };
};

describe("a subagent", () => {
  it("works in the same sandbox, shows its progress, reports, and is in the trace", async () => {
    delegate("works", { task: "Count to three", instructions: "[script:counter] count" });
    model.script("counter", function* ({ step, tools }) {
      expect(tools.toSorted()).toEqual(["bash", "glob", "grep", "read", "write"]);
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

  it("finishes 50 calls with large results in a window of 64,000 tokens", async () => {
    delegate("large", { task: "Reads much", instructions: "[script:reads-much]" });
    let step = 0;
    model.script("reads-much", function* ({ tools }) {
      if (tools.length === 0) yield { text: "## Goal\nTo read much." };
      else if (step++ < 25) {
        for (const n of [0, 1]) yield { tool: "bash", input: { command: `seq ${step}${n} 4000` } };
      } else yield { text: "Read." };
    });
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(path, { modelId: "fake-64k" });
    const stream = await conversation.send("[script:large]");
    await stream.ended;
    const [part] = (await conversation.answer()).parts.filter(({ type }) => type === "tool-task");
    expect(Object(part).output).toEqual({ result: "Read.", steps: 26 });
    expect(model.rejected).toEqual([]);
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
    const conversation = await openConversation(caller);
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
