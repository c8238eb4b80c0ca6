/** Conversations that do not fit into the context of their model. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage, FakeOpenAI, Script, ScriptPart } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { conversationOf, startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";

let workspace: SharedWorkspace;
let model: FakeOpenAI;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace("priced");
  model = workspace.model;
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

/** Calls bash so often, then answers. Summaries are `summary`. */
function worker(
  steps: number,
  commandOf: (step: number) => readonly string[],
  summary: (count: number) => string = () => "## Goal\nTo count.",
): Script {
  let step = 0;
  let summaries = 0;
  return function* ({ tools }) {
    if (tools.length === 0) yield { text: summary(summaries++) };
    else if (step < steps) {
      for (const command of commandOf(step)) yield { tool: "bash", input: { command } };
      step++;
    } else {
      step = 0;
      yield { text: "All done." };
    }
  };
}

const lines = (from: number) => [`seq ${from} ${from + 3_999}`];

/** The requests of a script in their order, without those for summaries. */
const requestsOf = (script: string) =>
  model.callsOf(script).filter(({ tools }) => tools.length > 0);

function expectValid(messages: readonly ChatMessage[]): void {
  const [system, first] = messages;
  expect([system?.role, first?.role]).toEqual(["system", "user"]);
  const called = messages.flatMap(({ tool_calls = [] }) =>
    tool_calls.map((call) => Object(call).id),
  );
  const answered = messages.flatMap((message) => Object(message).tool_call_id ?? []);
  expect(answered).toEqual(called);
}

/** How often a request is not the one before it with more at its end. */
function changesOf(requests: readonly { readonly messages: readonly ChatMessage[] }[]): number {
  return requests.filter(({ messages }, index) => {
    const before = requests[index - 1]?.messages ?? [];
    return JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before);
  }).length;
}

async function run(script: string, more: object = {}) {
  const before = model.rejected.length;
  const started = await startRun(caller, {
    prompt: `[script:${script}] Keep to my rule: whole lines only.`,
    model: "fake-64k",
    ...more,
  });
  const ended = await waitForRun(caller, started);
  const conversation = conversationOf(caller, started);
  const requests = requestsOf(script);
  for (const { messages } of requests) expectValid(messages);
  return { ended, conversation, requests, rejections: model.rejected.length - before };
}

const compactionsIn = async (conversation: Conversation) =>
  (await conversation.read()).messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "data-compaction" ? [Object(part).data] : [])),
  );

describe("a turn of forty tool calls with a megabyte of results", () => {
  it("finishes in a window of 64,000 tokens, seldom changes the prompt, and rejects nothing", async () => {
    model.script(
      "window-long-turn",
      worker(39, (step) => (step === 0 ? [...lines(1), "seq 3 4000"] : lines(step * 4_000))),
    );
    const { ended, conversation, requests, rejections } = await run("window-long-turn");
    expect(ended.status, String(ended.error)).toBe("completed");
    expect(requests).toHaveLength(40);
    expect(rejections).toBe(0);
    expect(changesOf(requests)).toBeLessThanOrEqual(requests.length / 3);
    // Every request contains the newest result and the user's messages.
    for (const [step, { messages }] of requests.entries()) {
      if (step < 2) continue;
      const newest = String(messages.at(-1)?.content);
      expect(newest).toContain(`\n${(step - 1) * 4_000}\n`);
      expect(newest).toContain(`${(step - 1) * 4_000 + 3_999}`);
      expect(JSON.stringify(messages.filter(({ role }) => role === "user"))).toContain(
        "whole lines",
      );
    }
    // Stored and shown is everything.
    const compactions = await compactionsIn(conversation);
    expect(compactions.length).toBeGreaterThan(0);
    for (const { kind, tokens_before, tokens_after } of compactions) {
      expect(["cleared", "summarized"]).toContain(kind);
      expect(tokens_after).toBeLessThan(tokens_before);
    }
    const { parts } = await conversation.answer();
    const outputs = parts.flatMap((part) => ("output" in part ? [Object(part.output).stdout] : []));
    expect(outputs).toHaveLength(40);
    for (const stdout of outputs) expect(stdout.length).toBeGreaterThan(15_000);
    // The file named to the model contains the output of the command, and nothing else.
    const told = requests.flatMap(({ messages }) =>
      messages.flatMap(
        ({ content }) => /complete result is in (\S+\.txt)/.exec(String(content))?.[1] ?? [],
      ),
    );
    const query = new URLSearchParams({
      sessionId: conversation.sessionId,
      path: told.at(-1) ?? "",
    });
    const file = await caller.get(`/api/sandbox/files/content?${query}`);
    expect(outputs).toContain(file.text);
  });
});

describe("a chat of many turns", () => {
  it.each([
    [
      "a model that summarizes well",
      "good",
      () => "## Goal\nTo talk.\n## Constraints of the user\nWhole lines only.",
    ],
    ["one that writes nothing", "empty", () => ""],
    ["one that writes too much", "endless", () => "blah ".repeat(60_000)],
  ])("goes on with %s", async (_, name, summary) => {
    const turns = name === "good" ? 18 : 10;
    model.script(
      `window-chat-${name}`,
      worker(1, () => ["seq 4000"], summary),
    );
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(path, { modelId: "fake-64k" });
    const before = model.rejected.length;
    for (let turn = 0; turn < turns; turn++) {
      const text = `[script:window-chat-${name}] question ${turn} ${"and a long story ".repeat(1_000)}`;
      const stream = await conversation.send(text);
      await stream.ended;
      expect(stream.chunks.at(-1), `turn ${turn}: ${stream.text.slice(-300)}`).toMatchObject({
        type: "finish",
        finishReason: "stop",
      });
    }
    expect(model.rejected.length).toBe(before);
    const requests = requestsOf(`window-chat-${name}`);
    for (const { messages } of requests) expectValid(messages);
    expect(changesOf(requests)).toBeLessThanOrEqual(requests.length / 3);
    const newest = requests.at(-1)?.messages ?? [];
    expect(JSON.stringify(newest.filter(({ role }) => role === "user"))).toContain(
      `question ${turns - 1} `,
    );
    const summaries = model.callsOf(`window-chat-${name}`).length - requests.length;
    expect(summaries).toBeGreaterThan(0);
    const { messages } = await conversation.read();
    expect(messages).toHaveLength(2 * turns);
  });
});

describe("an answer that only says where it was compacted", () => {
  it("may be sent back by its client, and reaches no model", async () => {
    const conversation = await openConversation(caller);
    const data = { kind: "cleared", tokens_before: 2, tokens_after: 1 };
    const parts = [{ type: "data-compaction", id: "1", data }];
    const send = (role: "user" | "assistant") =>
      conversation.send([
        { id: `q-${role}`, content: "a question" },
        { id: `a-${role}`, role, parts },
        { id: `n-${role}`, content: "[script:window-sent-back]" },
      ]);
    model.script("window-sent-back", function* () {
      yield { text: "done" };
    });
    await (await send("assistant")).ended;
    const [request] = requestsOf("window-sent-back");
    expect(request?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    const refused = await send("user");
    await refused.ended;
    expect(refused.status).toBe(400);
  });
});

describe("tokens that the provider had cached", () => {
  it("are counted and priced as such", async () => {
    model.script("window-cached", function* ({ step }) {
      const prompt_tokens_details = { cached_tokens: 900_000 };
      yield {
        claims: {
          usage: { prompt_tokens: 1_000_000, completion_tokens: 100_000, prompt_tokens_details },
        },
      };
      if (step === 0) yield { tool: "bash", input: { command: "true" } };
      else yield { text: "done" };
    });
    const { ended } = await run("window-cached", { model: "cached" });
    expect(ended.status).toBe("completed");
    const { body } = await caller.get(`/api/chat/runs/${ended.runId}/steps`);
    const call = { input_tokens: 1_000_000, cached_input_tokens: 900_000, output_tokens: 100_000 };
    // 100,000 tokens at 10, 900,000 at 1 and 100,000 at 20 USD a million.
    const cost = 1 + 0.9 + 2;
    expect(body).toMatchObject({
      run: {
        usage: { input_tokens: 2_000_000, cached_input_tokens: 1_800_000, output_tokens: 200_000 },
        cost_usd: expect.closeTo(2 * cost, 6),
      },
      steps: [1, 2].map(() => ({ usage: call, cost_usd: expect.closeTo(cost, 6) })),
    });
    const totals = (await caller.get("/api/usage")).body;
    expect(Object(totals).totals.cached_input_tokens).toBe(1_800_000);
  });
});

describe("a request that a model rejects in unknown words", () => {
  const page = "and a long story ".repeat(1_500);
  it.each<[string, readonly ScriptPart[]]>([
    ["as a 400", [{ fail: 400, message: "API 调用参数有误" }]],
    ["within its stream", [{ text: "Well" }, { fail: 500, message: "upstream error" }]],
    ["at the end of an answer", [{ text: "Well" }, { finish: "model_context_window_exceeded" }]],
  ])("%s is compacted once, and the chat continues", async (name, rejection) => {
    const script = `window-words-${name.replaceAll(" ", "-")}`;
    model.script(script, function* ({ messages, tools }) {
      if (tools.length === 0) yield { text: "## Goal\nTo talk." };
      else if (JSON.stringify(messages).length > 90_000) yield* rejection;
      else yield { text: "Fine." };
    });
    const conversation = await openConversation(caller);
    for (let turn = 0; turn < 5; turn++) {
      const stream = await conversation.send(`[script:${script}] question ${turn} ${page}`);
      await stream.ended;
      expect(stream.chunks.at(-1), `turn ${turn}: ${stream.text.slice(-300)}`).toMatchObject({
        type: "finish",
        finishReason: "stop",
      });
    }
    const compactions = await compactionsIn(conversation);
    expect(compactions.length).toBeOneOf([1, 2]);
    for (const { kind } of compactions) expect(kind).toBe("summarized");
  });
});
