/** Fallback models beside the turn's own calls: of subagents and summaries, of templates, and what models have signed. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openConversation } from "../../support/harness/conversation.ts";
import { conversationOf, startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import { assemble, textOf } from "../../support/harness/turn-stream.ts";

let workspace: SharedWorkspace;
beforeAll(async () => {
  workspace = await joinWorkspace("priced");
});
afterAll(() => workspace?.stop());

const gone = { fail: 404 };

it("a subagent falls back like its turn, with the turn's effort", async () => {
  const caller = await workspace.createCaller();
  workspace.model.script("parts-delegates", function* ({ model, step }) {
    if (model !== "spare") yield gone;
    else if (step > 0) yield { text: "Reported." };
    else yield { tool: "task", input: { task: "Look", instructions: "[script:parts-looks]" } };
  });
  workspace.model.script("parts-looks", function* ({ model }) {
    if (model === "spare") yield { text: "Seen." };
    else yield gone;
  });
  const started = await startRun(caller, {
    prompt: "[script:parts-delegates]",
    model: "main-subagent",
    effort: "high",
  });
  expect((await waitForRun(caller, started)).status).toBe("completed");
  const answer = await conversationOf(caller, started).answer();
  const [part] = answer.parts.filter(({ type }) => type === "tool-task");
  expect(Object(part).output).toEqual({ result: "Seen.", steps: 1 });
  const calls = workspace.model.callsOf("parts-looks");
  expect(calls.at(-1)).toMatchObject({ model: "spare", effort: "high" });
  const { body } = await caller.get(`/api/chat/runs/${started.runId}/steps`);
  const [{ tool_calls: toolCalls }] = Object(body).steps;
  expect(toolCalls[0].steps).toMatchObject([{ model_id: "spare" }]);
});

it("a summary is written by the fallback", async () => {
  const caller = await workspace.createCaller();
  // Steps that are part of the summary no longer count for the script.
  let commands = 0;
  workspace.model.script("parts-long", function* ({ model, tools }) {
    if (tools.length === 0 && model === "main-summary") yield gone;
    else if (tools.length === 0) yield { text: "## Goal\nWritten by the spare model." };
    else if (commands++ < 24)
      yield { tool: "bash", input: { command: `true ${"word ".repeat(2_000)}` } };
    else yield { text: "Done." };
  });
  const started = await startRun(caller, {
    prompt: "[script:parts-long]",
    model: "main-summary",
    fallback_models: ["spare", "fake-64k"],
  });
  const ended = await waitForRun(caller, started);
  expect(ended.status, String(ended.error)).toBe("completed");
  const calls = workspace.model.callsOf("parts-long");
  const [last] = calls.slice(-1);
  expect(JSON.stringify(last?.messages)).toContain("Written by the spare model.");
  expect(last?.model).toBe("main-summary");
});

it("another account's template chooses neither models nor effort", async () => {
  const author = await workspace.createCaller();
  const caller = await workspace.createCaller();
  const made = await author.post("/api/agents/templates", {
    title: "Analyst",
    description: "Looks closely at figures",
    prompt: "You look closely at figures.",
    tags: [],
    is_private: false,
    fallback_models: ["fake-64k"],
    effort: "high",
  });
  workspace.model.script("parts-template", function* ({ model }) {
    if (model === "main-template") yield gone;
    else yield { text: "ok" };
  });
  const template_id = Object(made.body).template.id;
  const body = { prompt: "[script:parts-template]", model: "main-template", template_id };
  for (const person of [caller, author]) await waitForRun(person, await startRun(person, body));
  const answers = workspace.model
    .callsOf("parts-template")
    .filter(({ model }) => model !== "main-template");
  expect(answers.map(({ model, effort, messages }) => [model, effort, messages.length])).toEqual([
    ["spare", undefined, 2],
    ["fake-64k", "high", 2],
  ]);
  for (const { messages } of answers)
    expect(JSON.stringify(messages[0])).toContain("You look closely at figures.");
});

it("signed reasoning is returned to its model, and to no other", async () => {
  const caller = await workspace.createCaller();
  workspace.model.script("parts-signed", function* ({ model, step, userText }) {
    if (step === 1 && model !== "spare" && userText.includes("first")) yield gone;
    else {
      yield { reasoning: `thought of ${model}` };
      const signature = `signature of ${model}`;
      if (step < 3) yield { tool: "bash", input: { command: `echo ${step}` }, signature };
      else yield { text: "Done." };
    }
  });
  const conversation = await openConversation(caller);
  const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
  await caller.patch(path, { modelId: "main-signed" });
  for (const which of ["first", "second"]) {
    const stream = await conversation.send(`[script:parts-signed] ${which}`);
    await stream.ended;
    expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
  }
  const calls = workspace.model.callsOf("parts-signed");
  expect(calls.map(({ model }) => model)).toContain("spare");
  for (const { model, messages } of calls) {
    const text = JSON.stringify(messages);
    const foreign = model === "spare" ? "main-signed" : "spare";
    expect(text).not.toContain(`of ${foreign}`);
    expect(text).not.toContain("agentPlatform");
  }
  const [last] = calls.slice(-1);
  expect(JSON.stringify(last?.messages).match(/thought of main-signed/g)).toHaveLength(6);
  expect(JSON.stringify(last?.messages).match(/signature of main-signed/g)).toHaveLength(5);
});

it("an answer that fills the window in its middle is made again, and not repeated", async () => {
  const caller = await workspace.createCaller();
  const full = "This model's maximum context length is 20000 tokens";
  let isFull = true;
  workspace.model.script("parts-full", function* ({ step, tools }) {
    if (tools.length === 0) yield { text: "## Goal\nTo count." };
    else if (step < 8) yield { tool: "bash", input: { command: `seq ${step} 1500` } };
    else {
      const wasFull = isFull;
      isFull = false;
      yield { text: "It is " };
      if (wasFull) yield { fail: 400, message: full };
      else yield { text: "done." };
    }
  });
  const conversation = await openConversation(caller);
  const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
  await caller.patch(path, { modelId: "main-full" });
  const stream = await conversation.send("[script:parts-full]");
  await stream.ended;
  expect(textOf(await conversation.answer())).toBe("It is done.");
  expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
});

it("a stop ends the wait for a model that fails, and calls no other", async () => {
  const caller = await workspace.createCaller();
  const called = Promise.withResolvers<void>();
  workspace.model.script("parts-stopped", function* () {
    called.resolve();
    yield { fail: 503, headers: { "retry-after-ms": "4900" } };
  });
  const started = await startRun(caller, {
    prompt: "[script:parts-stopped]",
    model: "main-stopped",
  });
  await called.promise;
  await caller.post(`/api/chat/runs/${started.runId}/cancel`);
  expect((await waitForRun(caller, started)).status).toBe("cancelled");
  expect(workspace.model.callsOf("parts-stopped").map(({ model }) => model)).toEqual([
    "main-stopped",
  ]);
});

it("the cost of a call that broke counts before its fallback is called", async () => {
  const caller = await workspace.createCaller();
  expect((await caller.patch("/api/accounts/me", { monthly_budget_usd: 0.001 })).status).toBe(200);
  workspace.model.script("parts-costly", function* ({ model }) {
    yield { text: `${model} says` };
    if (model !== "spare") yield { cut: true };
  });
  const started = await startRun(caller, { prompt: "[script:parts-costly]", model: "main-costly" });
  const ended = await waitForRun(caller, started);
  expect(ended).toMatchObject({ status: "failed", error: expect.stringContaining("budget") });
  expect(workspace.model.callsOf("parts-costly").map(({ model }) => model)).toEqual([
    "main-costly",
  ]);
});
