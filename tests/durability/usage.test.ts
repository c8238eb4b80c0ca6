/** The recorded usage of an account equals the model server's count, whatever has failed in between. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { type Client, client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { conversationOf, startedOf, startRun, waitForRun } from "../support/harness/runs.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const PRICE = { input: 2, output: 10 };
/** A call of a tool that starts no process. */
const plan = { tool: "todo", input: { todos: [] } };

let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace({ MODEL_PRICES: JSON.stringify({ "fake-model": PRICE }) });
  caller = await workspace.createCaller();
});
afterAll(() => workspace.stop());

/** The calls that the server has answered completely, with their reported usage. */
const answered = (script: string) =>
  workspace.model.callsOf(script).filter(({ outcome }) => outcome === "answered");

const sumOf = (
  calls: readonly { usage?: { prompt_tokens: number; completion_tokens: number } }[],
) => {
  const sum = (key: "prompt_tokens" | "completion_tokens") =>
    calls.reduce((total, { usage }) => total + (usage?.[key] ?? 0), 0);
  const [input_tokens, output_tokens] = [sum("prompt_tokens"), sum("completion_tokens")];
  const cost_usd = (input_tokens * PRICE.input + output_tokens * PRICE.output) / 1_000_000;
  return { steps: calls.length, input_tokens, output_tokens, cost_usd };
};

/** The recorded usage of the turn that answers the message of this id. */
async function recorded(messageId: string, estimated = false) {
  const [row] = await workspace.sql`
    select count(*)::int as steps, coalesce(sum(input_tokens), 0)::int as input_tokens,
      coalesce(sum(output_tokens), 0)::int as output_tokens,
      coalesce(sum(cost_usd), 0)::float as cost_usd
    from usage_entries e join turns t on t.id::text = e.source
    where t.message_id = ${messageId} and e.estimated = ${estimated}`;
  return { ...row };
}

const expectCounted = async (script: string, messageId: string) => {
  const { cost_usd, ...counts } = sumOf(answered(script));
  const { cost_usd: cost, ...rest } = await recorded(messageId);
  expect(rest).toEqual(counts);
  expect(cost).toBeCloseTo(cost_usd, 9);
};

async function ask(script: string) {
  const conversation = await openConversation(caller);
  const stream = await conversation.send([{ id: script, content: `[script:${script}]` }]);
  return { conversation, stream };
}

it("each call of a turn with tools and a subagent counts once", async () => {
  workspace.model.script("sub", function* ({ step }) {
    if (step < 2) yield plan;
    else yield { text: "A report" };
  });
  workspace.model.script("whole", function* ({ step }) {
    const instructions = "[script:sub]";
    if (step === 0) yield { tool: "task", input: { task: "Look around", instructions } };
    else yield { text: "Done." };
  });
  const { stream } = await ask("whole");
  await stream.ended;
  expect(answered("sub")).toHaveLength(3);
  const { cost_usd, ...counts } = sumOf([...answered("whole"), ...answered("sub")]);
  expect(await recorded("whole")).toMatchObject(counts);
  const list = await caller.get("/api/chat/runs");
  const [{ usage, cost_usd: cost }] = (list.body as { runs: [Record<string, unknown>] }).runs as [
    { usage: unknown; cost_usd: number },
  ];
  const { input_tokens, output_tokens } = counts;
  const total_tokens = input_tokens + output_tokens;
  expect(usage).toEqual({ input_tokens, cached_input_tokens: 0, output_tokens, total_tokens });
  expect(cost).toBeCloseTo(cost_usd, 9);
});

it("a call that breaks and is repeated counts with an estimate and with its answer", async () => {
  let calls = 0;
  workspace.model.script("broken", function* () {
    yield { text: "The beginning of an answer" };
    if (calls++ === 0) yield { cut: true };
  });
  const { stream } = await ask("broken");
  await stream.ended;
  await expectCounted("broken", "broken");
  expect(await recorded("broken", true)).toMatchObject({ steps: 1, output_tokens: 7 });
  const steps = await caller.get(`/api/chat/runs/${stream.runId}/steps`);
  expect(steps.body).toMatchObject({ steps: [{ index: 0, attempts: 2, finish_reason: "stop" }] });
});

it("a call that is stopped counts with an estimate", async () => {
  workspace.model.script("stopped", function* () {
    yield { text: "Twenty characters..." };
    yield { hang: true };
  });
  const { conversation, stream } = await ask("stopped");
  await stream.until((chunk) => chunk.type === "text-delta");
  await conversation.stop();
  await stream.ended;
  const estimate = await recorded("stopped", true);
  expect(estimate).toMatchObject({ steps: 1, output_tokens: 5 });
  expect(estimate.input_tokens).toBeGreaterThan(100);
  const steps = await caller.get(`/api/chat/runs/${stream.runId}/steps`);
  expect(steps.body).toMatchObject({ steps: [{ finish_reason: "interrupted", attempts: 1 }] });
});

it("of a step that a crash repeats, only the answer that was stored counts", async () => {
  const inAnswer = gate();
  workspace.model.script("crashed", async function* ({ step }) {
    if (step === 0) yield plan;
    else {
      yield { text: "Done." };
      await inAnswer.pass();
    }
  });
  // An answer that is complete and cannot be stored is lost with its process.
  const { stream } = await ask("crashed");
  await inAnswer.reached;
  const [owner] = await workspace.sql`select account_id from turns where run_id = ${stream.runId}`;
  const blocked = await workspace.sql.reserve();
  await blocked`begin`;
  await blocked`select from accounts where id = ${owner?.account_id} for update`;
  inAnswer.open();
  const waiting = () => workspace.sql`
    select pid from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%finish_turn%'`;
  await expect.poll(waiting).toHaveLength(1);
  await crash(workspace.server);
  // PostgreSQL would notice only later that the client is gone.
  for (const { pid } of await waiting()) await workspace.sql`select pg_terminate_backend(${pid})`;
  await blocked`rollback`;
  blocked.release();
  caller = clientAt((await workspace.startServer()).url, caller);
  const ended = () =>
    workspace.sql`select from turns where run_id = ${stream.runId} and finished_at is not null`;
  await expect.poll(ended).toHaveLength(1);
  const [tool, lost, repeated] = answered("crashed");
  expect(repeated?.usage).toEqual(lost?.usage);
  const { cost_usd: _cost, ...counts } = sumOf([tool ?? {}, repeated ?? {}]);
  expect(await recorded("crashed")).toMatchObject({ ...counts, steps: 2 });
  const steps = await caller.get(`/api/chat/runs/${stream.runId}/steps`);
  expect(steps.body).toMatchObject({
    steps: [
      { index: 0, attempts: 1 },
      { index: 1, attempts: 2 },
    ],
  });
});

it("the totals are those of all calls, by whatever they are grouped", async () => {
  const [all] = await workspace.sql`
    select count(*)::int as steps, count(distinct source)::int as runs,
      sum(input_tokens)::int as input_tokens, sum(output_tokens)::int as output_tokens,
      sum(cached_input_tokens)::int as cached_input_tokens, sum(cost_usd)::float as cost_usd
    from usage_entries`;
  const totals = {
    ...all,
    cost_usd: expect.closeTo(all?.cost_usd, 9),
    unpriced_calls: 0,
    images: 0,
    videos: 0,
  };
  const keys = {
    day: new Date().toISOString().slice(0, 10),
    model: "fake-model",
    api_key: expect.any(String),
    artist: null,
    kind: "chat",
  };
  for (const [group, key] of Object.entries(keys)) {
    const { body } = await caller.get(`/api/usage?group_by=${group}`);
    expect(body).toEqual({ status: "success", totals, items: [{ key, ...totals }] });
  }
  const other = client({ key: await workspace.createKey() }, workspace.server.url);
  expect((await other.get("/api/usage")).body).toMatchObject({ totals: { steps: 0 }, items: [] });
  const future = await caller.get("/api/usage?from=2099-01-01T00:00:00Z");
  expect(future.body).toMatchObject({ totals: { runs: 0, cost_usd: 0 }, items: [] });
  const [month] = await workspace.sql`select cost_usd::float from usage_months`;
  expect(month?.cost_usd).toBeCloseTo(all?.cost_usd, 9);
});

it("twenty runs at once exceed a small budget by at most one call", async () => {
  // A call costs less than a cent; the reservation for its answer is larger.
  const budget = 0.05;
  const account = await workspace.createCaller();
  await account.patch("/api/accounts/me", { monthly_budget_usd: budget });
  workspace.model.script("greedy", function* ({ step }) {
    yield { text: `Step ${step}. ` };
    yield plan;
  });
  const start = () => account.post("/api/chat/runs", { prompt: "[script:greedy]" });
  const answers = await Promise.all(Array.from({ length: 20 }, start));
  const runs = answers.filter(({ status }) => status !== 402).map(startedOf);
  const ended = await Promise.all(runs.map((run) => waitForRun(account, run)));
  for (const run of ended) {
    expect(run).toMatchObject({
      status: "failed",
      error: "budget_reached: Monthly budget reached",
    });
  }
  const accountId = Object(await account.get("/api/accounts/id")).body.accountId;
  const [used] = await workspace.sql`
    select sum(cost_usd)::float as spent, max(cost_usd)::float as call,
      unspent_budget(${accountId})::float as left
    from usage_entries where account_id = ${accountId}`;
  expect(used?.spent).toBeGreaterThan(budget - used?.call);
  expect(used?.spent).toBeLessThanOrEqual(budget + used?.call);
  // Nothing stays reserved.
  expect(used?.left).toBeCloseTo(budget - used?.spent, 9);
  const chats = await Promise.all(runs.map((run) => conversationOf(account, run).read()));
  expect(JSON.stringify(chats), "the answer until then").toContain("Step 1. ");
  expect((await start()).status).toBe(402);
});

it("a model without a price needs the consent of an account with a budget", async () => {
  const account = await workspace.createCaller();
  await account.patch("/api/accounts/me", { monthly_budget_usd: 5 });
  const run = async () => {
    const started = await startRun(account, { prompt: "hello", model: "fake-small" });
    return waitForRun(account, started);
  };
  expect(await run()).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^unpriced_model: .*allow_unpriced_models/),
  });
  await account.patch("/api/accounts/me", { allow_unpriced_models: true });
  expect(await run()).toMatchObject({ status: "completed", error: null });
  const listed = await account.get("/api/chat/runs");
  expect(listed.body).toMatchObject({
    runs: [
      { cost_usd: null, unpriced_calls: 1 },
      { cost_usd: 0, unpriced_calls: 0 },
    ],
  });
});
