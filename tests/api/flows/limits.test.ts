/**
 * Limits of runs: their cost, their steps and their duration. A crash of their server is in
 * tests/durability/crash-flows.test.ts.
 */
import { NOTE } from "@platform/agent/prompt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ScriptPart } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { conversationOf, type Started, startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import { assemble, expectCompleteTurn, textOf } from "../../support/harness/turn-stream.ts";

/** Each call of the priced model costs a dollar: its answers claim so many tokens. */
const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
const oneDollar: ScriptPart = { claims: { usage } };

let workspace: SharedWorkspace;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace("priced");
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

const run = async (body: object): Promise<Started> =>
  startRun(caller, { model: "priced", ...body });

/** The cost of the run in USD. */
const costOf = async ({ runId }: Started): Promise<number> => {
  const [row] = await workspace.sql`
    select coalesce(sum(e.cost_usd), 0)::float as usd
    from usage_entries e join turns t on t.id::text = e.source where t.run_id = ${runId}`;
  return Number(row?.usd);
};

const limitError = (name: string) => ({ status: "failed", error: `limit_reached: ${name}` });

const plan: ScriptPart = { tool: "todo", input: { todos: [] } };

/** Calls a tool in each step, without an end. */
const endless = (name: string, command?: (step: number) => string) =>
  workspace.model.script(name, function* ({ step }) {
    yield oneDollar;
    yield { text: `Step ${step}. ` };
    yield command ? { tool: "bash", input: { command: command(step) } } : plan;
  });

describe("a run that reaches", () => {
  it("its cost fails with the limit, and keeps its answer and its files", async () => {
    endless("limit-cost", (step) => `echo ${step} >> done`);
    const started = await run({ prompt: "[script:limit-cost]", limits: { max_cost_usd: 2.5 } });
    expect(await waitForRun(caller, started)).toMatchObject(limitError("max_cost_usd"));
    expect(await costOf(started)).toBe(3);
    expect(textOf(await conversationOf(caller, started).answer())).toBe("Step 0. Step 1. Step 2. ");
    expect(await workspace.readSandboxFile(started.sessionId, "done")).toBe("0\n1\n2\n");
  });

  it("its steps fails, and one that needs no more completes", async () => {
    workspace.model.script("limit-steps", function* ({ step }) {
      if (step < 3) yield plan;
      else yield { text: "Done." };
    });
    const start = (max_steps: number) =>
      run({ prompt: "[script:limit-steps]", model: "fake-model", limits: { max_steps } });
    expect(await waitForRun(caller, await start(3))).toMatchObject(limitError("max_steps"));
    expect(workspace.model.callsOf("limit-steps")).toHaveLength(3);
    expect(await waitForRun(caller, await start(4))).toMatchObject({ status: "completed" });
  });

  it("its duration in a slow tool fails before the next model call, after the tool", async () => {
    endless("limit-slow", () => "sleep 1.1; echo slept >> done");
    const started = await run({ prompt: "[script:limit-slow]", limits: { max_duration_s: 1 } });
    expect(await waitForRun(caller, started)).toMatchObject(limitError("max_duration_s"));
    expect(workspace.model.callsOf("limit-slow")).toHaveLength(1);
    expect(await workspace.readSandboxFile(started.sessionId, "done")).toBe("slept\n");
    const [part] = (await conversationOf(caller, started).answer()).parts.slice(-2);
    expect(part).toMatchObject({ type: "tool-bash", state: "output-available" });
  });

  it("its cost before a summary fails without the summary", async () => {
    const tokens = [1_000, 1_000, 1_000, 1_000, 40_000];
    let step = 0;
    workspace.model.script("limit-summary", function* ({ tools }) {
      const prompt_tokens = tokens[step];
      if (tools.length === 0) yield { text: "## Goal\nTo count." };
      else if (prompt_tokens === undefined) yield { text: "Done." };
      else {
        yield { claims: { usage: { prompt_tokens, completion_tokens: 0, total_tokens: 0 } } };
        yield { tool: "bash", input: { command: `true ${"word ".repeat(2_000)} ${step++}` } };
      }
    });
    const withLimit = async (max_cost_usd: number) => {
      step = 0;
      const options = { fallback_models: ["fake-64k"], limits: { max_cost_usd } };
      const started = await run({ prompt: "[script:limit-summary]", ...options });
      const summaries = () =>
        workspace.model.callsOf("limit-summary").filter(({ tools }) => tools.length === 0).length;
      const before = summaries();
      return { ended: await waitForRun(caller, started), summaries: summaries() - before };
    };
    expect(await withLimit(22)).toMatchObject({
      ended: limitError("max_cost_usd"),
      summaries: 0,
    });
    expect(await withLimit(500)).toMatchObject({ ended: { status: "completed" }, summaries: 1 });
  });

  it("its cost with four subagents exceeds it by at most one call", async () => {
    workspace.model.script("limit-delegates", function* ({ step }) {
      yield oneDollar;
      const work = { task: "Work", instructions: "[script:limit-works]" };
      if (step === 0) for (let n = 0; n < 4; n++) yield { tool: "task", input: work };
      else yield { text: "Done." };
    });
    endless("limit-works");
    const started = await run({
      prompt: "[script:limit-delegates]",
      limits: { max_cost_usd: 7.5 },
    });
    expect(await waitForRun(caller, started)).toMatchObject(limitError("max_cost_usd"));
    expect(await costOf(started)).toBe(8);
    expect(workspace.model.callsOf("limit-delegates")).toHaveLength(1);
    expect(workspace.model.callsOf("limit-works")).toHaveLength(7);
    const { parts } = await conversationOf(caller, started).answer();
    const reports = parts.flatMap((part) =>
      part.type === "tool-task" ? [Object(part).output] : [],
    );
    expect(reports).toEqual(Array(4).fill({ error: "limit_reached: max_cost_usd" }));
  });
});

describe("a limit", () => {
  it("applies to each turn of a chat, whose stream ends with the error", async () => {
    endless("limit-chat");
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    const limits = { max_steps: 2 };
    const changed = await caller.patch(path, { modelId: "priced", limits });
    expect(Object(changed.body).chat).toMatchObject({ limits });
    for (let turn = 0; turn < 2; turn++) {
      const stream = await conversation.send(`[script:limit-chat] ${turn}`);
      await stream.ended;
      expectCompleteTurn(stream.frames);
      const [error] = stream.chunks.slice(-2);
      expect(error).toEqual({ type: "error", errorText: "limit_reached: max_steps" });
      const answer = await conversation.answer();
      expect(textOf(answer)).toBe("Step 0. Step 1. ");
      expect(await assemble(stream.chunks)).toEqual(answer);
    }
    const removed = await caller.patch(path, { limits: {} });
    expect(Object(removed.body).chat).not.toHaveProperty("limits");
  });

  it("is the narrowest of a template's and the run's, and a task's applies to its runs", async () => {
    endless("limit-narrow");
    const made = await caller.post("/api/agents/templates", {
      title: "Counter",
      description: "Counts without an end",
      prompt: "You count without an end.",
      tags: [],
      is_private: true,
      limits: { max_steps: 2, max_cost_usd: 50 },
    });
    const template_id = Object(made.body).template.id;
    const calls = () => workspace.model.callsOf("limit-narrow").length;
    const limits = { max_steps: 5, max_cost_usd: 0.5 };
    const narrow = await run({ prompt: "[script:limit-narrow]", template_id, limits });
    expect(await waitForRun(caller, narrow)).toMatchObject(limitError("max_cost_usd"));
    expect(calls()).toBe(1);
    const task = await caller.post("/api/tasks", {
      title: "Count",
      prompt: "[script:limit-narrow]",
      schedule: "0 9 * * MON",
      model: "priced",
      template_id,
      limits: { max_steps: 3 },
    });
    expect(Object(task.body).task, task.text).toMatchObject({ limits: { max_steps: 3 } });
    const ran = await caller.post(`/api/tasks/${Object(task.body).task.id}/run`);
    const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(ran.body);
    const ended = await waitForRun(caller, { runId, chatId, sessionId });
    expect(ended).toMatchObject(limitError("max_steps"));
    expect(calls()).toBe(3);
  });

  it("informs the model once, at the end of the request, when three quarters are used", async () => {
    endless("limit-told");
    const started = await run({ prompt: "[script:limit-told]", limits: { max_steps: 8 } });
    await waitForRun(caller, started);
    const requests = workspace.model.callsOf("limit-told").map(({ messages }) => messages);
    for (const [place, request] of requests.entries()) {
      const next = requests[place + 1];
      if (next) expect(next.slice(0, request.length)).toEqual(request);
      const notes = request.filter(({ content }) => String(content).startsWith(NOTE));
      expect(notes).toHaveLength(place < 6 ? 0 : 1);
    }
    expect(requests[6]?.at(-1)).toMatchObject({
      role: "user",
      content: expect.stringContaining("8 model calls"),
    });
    const { text } = await caller.get(`/api/sessions/${started.sessionId}/chats/${started.chatId}`);
    expect(text).not.toContain(NOTE);
  });
});
