/**
 * Models that fail, the ones that answer in their place, and the effort of models that think.
 * This file is long because its tests share one server. A crash of their server is in
 * tests/durability/crash-flows.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate, type ScriptPart } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { PRICES } from "../../support/harness/priced.ts";
import { conversationOf, startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import { assemble, expectCompleteTurn, textOf } from "../../support/harness/turn-stream.ts";

let workspace: SharedWorkspace;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace("priced");
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

const soon = { "retry-after-ms": "1" };
const overloaded: ScriptPart = { fail: 503, headers: soon };

/** The models that a script was requested from, in order. */
const modelsOf = (script: string) =>
  workspace.model.callsOf(`fallback-${script}`).map(({ model }) => model);

async function run(script: string, body: object = {}) {
  const started = await startRun(caller, {
    prompt: `[script:fallback-${script}]`,
    model: `main-${script}`,
    ...body,
  });
  const ended = await waitForRun(caller, started);
  const { body: trace } = await caller.get(`/api/chat/runs/${started.runId}/steps`);
  const steps = Object(trace).steps as Record<string, unknown>[];
  return { started, ended, steps, conversation: conversationOf(caller, started) };
}

/** The usage of a run's model calls in their order. */
const usageOf = ({ runId }: { runId: string }) => workspace.sql`
  select e.step, e.model_id, e.input_tokens::int, e.output_tokens::int, e.cost_usd::float, e.estimated
  from usage_entries e join turns t on t.id::text = e.source
  where t.run_id = ${runId} order by e.step, e.call`;

describe("a model that fails", () => {
  it("at the start is called twice, then its fallback answers", async () => {
    workspace.model.script("fallback-start", function* ({ model }) {
      if (model === "spare") yield { text: "here" };
      else yield { fail: 529, headers: soon };
    });
    const { started, ended, steps, conversation } = await run("start", {
      fallback_models: ["spare"],
    });
    expect(ended.status, String(ended.error)).toBe("completed");
    expect(modelsOf("start")).toEqual(["main-start", "main-start", "spare"]);
    expect(steps).toMatchObject([{ model_id: "spare", attempts: 3 }]);
    const answer = await conversation.answer();
    expect(textOf(answer)).toBe("here");
    expect(answer.metadata).toMatchObject({ modelId: "spare" });
    expect([...(await usageOf(started))]).toMatchObject([{ model_id: "spare" }]);
  });

  it("at the tenth call leaves the rest of the run to the fallback of the installation", async () => {
    workspace.model.script("fallback-tenth", function* ({ model, step }) {
      if (model !== "spare" && step >= 9) yield overloaded;
      else if (step < 11) yield { tool: "todo", input: { todos: [] } };
      else yield { text: "Done." };
    });
    const { started, ended, steps } = await run("tenth");
    expect(ended.status, String(ended.error)).toBe("completed");
    const main = Array.from({ length: 9 }, () => "main-tenth");
    const answeredBy = [...main, "spare", "spare", "spare"];
    expect(steps.map(({ model_id }) => model_id)).toEqual(answeredBy);
    expect((await usageOf(started)).map(({ model_id }) => model_id)).toEqual(answeredBy);
    // After two failed calls it is skipped.
    expect(modelsOf("tenth").slice(9)).toEqual([
      ...["main-tenth", "main-tenth", "spare"],
      ...["main-tenth", "main-tenth", "spare"],
      "spare",
    ]);
  });

  it("in mid-answer is replaced after a reset-step chunk, and both are counted and priced", async () => {
    workspace.model.script("fallback-middle", function* ({ model }) {
      yield { text: `${model} says ` };
      yield model === "spare" ? { text: "all" } : { cut: true };
    });
    const { started, ended, conversation } = await run("middle");
    expect(ended.status, String(ended.error)).toBe("completed");
    expect(modelsOf("middle")).toEqual(["main-middle", "main-middle", "spare"]);
    const stream = await conversation.resume({ runId: started.runId });
    await stream.ended;
    expectCompleteTurn(stream.frames);
    const answer = await conversation.answer();
    expect(textOf(answer)).toBe("spare says all");
    expect(await assemble(stream.chunks)).toEqual(answer);
    expect(stream.chunks.filter(({ type }) => type === "reset-step")).toHaveLength(2);
    const usage = await usageOf(started);
    expect([...usage]).toMatchObject([
      { model_id: "main-middle", estimated: true },
      { model_id: "main-middle", estimated: true },
      { model_id: "spare", estimated: false },
    ]);
    for (const { model_id, input_tokens, output_tokens, cost_usd } of usage) {
      const { input, output } = PRICES[model_id as keyof typeof PRICES];
      expect(input_tokens).toBeGreaterThan(0);
      expect(cost_usd).toBeCloseTo((input_tokens * input + output_tokens * output) / 1_000_000, 9);
    }
  });

  it("twice in a row is skipped, unless there is no other", async () => {
    workspace.model.script("fallback-skipped", function* ({ model }) {
      if (model === "spare") yield { text: "here" };
      else yield overloaded;
    });
    for (let n = 0; n < 3; n++) expect((await run("skipped")).ended.status).toBe("completed");
    const failing = ["main-skipped", "main-skipped", "spare"];
    expect(modelsOf("skipped")).toEqual([...failing, ...failing, "spare"]);
    const alone = await run("skipped", { fallback_models: [] });
    expect(alone.ended.status).toBe("failed");
    expect(modelsOf("skipped").at(-1)).toBe("main-skipped");
  });

  it("with a rate limit of a few seconds is waited for, and else replaced at once", async () => {
    let calls = 0;
    workspace.model.script("fallback-limited", function* ({ model }) {
      if (model === "spare") yield { text: "here" };
      else if (calls++ === 0) yield { fail: 429, headers: soon };
      else if (calls === 2) yield { text: "waited" };
      else yield { fail: 429, headers: { "retry-after": "30" } };
    });
    const waited = await run("limited");
    expect(textOf(await waited.conversation.answer())).toBe("waited");
    const replaced = await run("limited");
    expect(textOf(await replaced.conversation.answer())).toBe("here");
    expect(modelsOf("limited")).toEqual([
      ...["main-limited", "main-limited"],
      ...["main-limited", "spare"],
    ]);
  });

  it("because it is gone is replaced at once", async () => {
    workspace.model.script("fallback-gone", function* ({ model }) {
      if (model === "spare") yield { text: "here" };
      else yield { fail: 404 };
    });
    expect((await run("gone")).ended.status).toBe("completed");
    expect(modelsOf("gone")).toEqual(["main-gone", "spare"]);
  });

  it.each([400, 401, 402, 403, 422])("with %i is not replaced", async (fail) => {
    const before = modelsOf("wrong").length;
    workspace.model.script("fallback-wrong", function* () {
      yield { fail };
    });
    expect((await run("wrong")).ended.status).toBe("failed");
    expect(modelsOf("wrong").slice(before)).toEqual(["main-wrong"]);
  });

  it("has a fallback with a smaller window, which all requests fit into", async () => {
    workspace.model.script("fallback-small", function* ({ model, step, tools }) {
      if (tools.length === 0) yield { text: "## Goal\nTo count." };
      else if (step < 12)
        yield { tool: "bash", input: { command: `seq ${step * 4_000} ${step * 4_000 + 3_999}` } };
      else if (model === "fake-64k") yield { text: "here" };
      else yield overloaded;
    });
    const { ended, steps } = await run("small", { fallback_models: ["fake-64k"] });
    expect(ended.status, String(ended.error)).toBe("completed");
    expect(steps.at(-1)).toMatchObject({ model_id: "fake-64k" });
    expect(workspace.model.rejected).toEqual([]);
  });
});

const effortsOf = (script: string) =>
  workspace.model.callsOf(`fallback-${script}`).map(({ effort }) => effort);

async function templateWith(options: object): Promise<string> {
  const made = await caller.post("/api/agents/templates", {
    title: "Analyst",
    description: "Looks closely at figures",
    prompt: "You look closely at figures.",
    tags: [],
    is_private: true,
    ...options,
  });
  expect(made.status, made.text).toBe(201);
  expect(Object(made.body).template).toMatchObject(options);
  return Object(made.body).template.id;
}

describe("options", () => {
  it("of a run reach the request, and are left out of it where none are set", async () => {
    workspace.model.script("fallback-effort", function* () {
      yield { text: "ok" };
    });
    const body = { model: "fake-model" };
    for (const effort of ["low", "medium", "high", undefined])
      await run("effort", { ...body, effort });
    expect(effortsOf("effort")).toEqual(["low", "medium", "high", undefined]);
    const settings = { temperature: 0.5, max_output_tokens: 300 };
    await run("effort", { ...body, ...settings, tools: ["read"] });
    await run("effort", { ...body, temperature: 0, tools: [] });
    expect(workspace.model.callsOf("fallback-effort").slice(-3)).toMatchObject([
      { temperature: undefined, maxTokens: undefined },
      { temperature: 0.5, maxTokens: 300, tools: ["read"] },
      { temperature: 0, maxTokens: undefined, tools: [] },
    ]);
  });

  it("of a chat go before those of its template, and a turn keeps the ones it has started with", async () => {
    const held = gate();
    workspace.model.script("fallback-chat-options", async function* ({ model, step }) {
      if (model === "main-start") yield { fail: 404 };
      else if (step === 0) yield { tool: "todo", input: { todos: [] } };
      else yield { text: "ok" };
      if (step === 0) await held.pass();
    });
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    const templateId = await templateWith({ fallback_models: ["fake-64k"], effort: "low" });
    const title = "Options";
    const changes = { title, modelId: "main-start", templateId, effort: "high" };
    const patched = await caller.patch(path, changes);
    expect(Object(patched.body).chat).toMatchObject({ effort: "high" });
    const stream = await conversation.send("[script:fallback-chat-options]");
    await held.reached;
    const removed = await caller.patch(path, { effort: "", fallback_models: ["spare"] });
    expect(Object(removed.body).chat).toMatchObject({ fallback_models: ["spare"] });
    expect(Object(removed.body).chat).not.toHaveProperty("effort");
    held.open();
    await stream.ended;
    const next = await conversation.send("[script:fallback-chat-options]");
    await next.ended;
    const answers = workspace.model
      .callsOf("fallback-chat-options")
      .filter(({ model }) => model !== "main-start");
    expect(answers.map(({ model, effort }) => [model, effort])).toEqual([
      ...[
        ["fake-64k", "high"],
        ["fake-64k", "high"],
      ],
      ...[
        ["spare", "low"],
        ["spare", "low"],
      ],
    ]);
  });

  it("that name a model which is not offered are refused with the field's name", async () => {
    const { sessionId, chatId } = await openConversation(caller);
    const chats = `/api/sessions/${sessionId}/chats`;
    const task = { title: "Count", prompt: "Count", schedule: "0 9 * * MON" };
    const fallback_models = ["no-such-model"];
    for (const answer of [
      await caller.post("/api/chat/runs", { prompt: "Hello", fallback_models }),
      await caller.post(chats, { fallback_models }),
      await caller.patch(`${chats}/${chatId}`, { fallback_models }),
      await caller.post("/api/tasks", { ...task, fallback_models }),
    ]) {
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toContain("fallback_models");
    }
  });
});
