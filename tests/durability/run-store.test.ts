/** The run state that a new owner loads is the one that the former owner had in memory. */
import { randomUUID } from "node:crypto";
import { EntityConflictError, RunExpiredError, TooEarlyError } from "@workflow/errors";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool } from "../../packages/world-postgres/src/database.ts";
import { RunStore } from "../../packages/world-postgres/src/run-store.ts";
import { startOwnParts } from "../support/harness/stack.ts";

type Request = Parameters<RunStore["create"]>[1];

const bytes = (text: string) => new TextEncoder().encode(text);
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const failure = { error: { message: "no" }, stack: "at x" };
const correlationId = "step_1";

const createRun = {
  eventType: "run_created",
  eventData: { deploymentId: "postgres", workflowName: "turn", input: bytes("run") },
} as Request;
const startRun = { ...createRun, eventType: "run_started" } as Request;
const createStep = {
  eventType: "step_created",
  correlationId,
  eventData: { stepName: "model", input: bytes("step") },
} as Request;
const step = (eventType: string, eventData?: object) =>
  ({ eventType, correlationId, ...(eventData && { eventData }) }) as Request;
const endRun = { eventType: "run_completed", eventData: { output: bytes("end") } } as Request;

/** A database without a server, which would adopt the runs. */
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
beforeAll(async () => {
  parts = await startOwnParts();
  sql = postgres(databaseUrl(), { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await parts.stop();
});

const databaseUrl = () => parts.env.DATABASE_URL ?? "";
/** @param through what each statement goes through, with its text */
async function openStore(
  owner: string,
  through: <T>(text: string, execute: () => Promise<T>) => Promise<T> = (_, execute) => execute(),
): Promise<RunStore> {
  await register(owner);
  const pool = openPool(databaseUrl(), 2, () => {});
  const query: typeof pool.sql = (strings, ...values) =>
    through(strings.join("$"), () => pool.sql(strings, ...values));
  return new RunStore(query, owner);
}
const register = (owner: string) => sql`insert into engine.instances (id) values (${owner})`;
const remove = (owner: string) => sql`select engine.remove_instance(${owner})`;

test("a run moves to another owner with its steps, attempts and events", async () => {
  const [former, next, runId] = [randomUUID(), randomUUID(), `wrun_${randomUUID()}`];
  const one = await openStore(former);
  await one.create(runId, createRun);
  await expect((await openStore(randomUUID())).create(runId, createRun)).rejects.toThrow(
    EntityConflictError,
  );
  await one.create(runId, createStep);
  await one.create(runId, step("step_started"));
  const tomorrow = new Date(Date.now() + 86_400_000);
  await one.create(runId, step("step_retrying", { ...failure, retryAfter: tomorrow }));
  await expect(one.create(runId, step("step_started"))).rejects.toThrow(TooEarlyError);
  const retryAfter = new Date();
  const retrying = await one.create(runId, step("step_retrying", { ...failure, retryAfter }));
  expect(retrying.step).toMatchObject({ status: "pending", attempt: 1, retryAfter });

  const two = await openStore(next);
  // PostgreSQL returns bytes as a Buffer, and the takeover sets the time of the update.
  const { input: _, updatedAt: __, ...known } = await one.run(runId);
  // The owner after `former` has died.
  const nobody = "00000000-0000-0000-0000-000000000000";
  await sql`update engine.runs set owner = ${nobody} where owner = ${former}`;
  expect(await two.adopt(1)).toMatchObject([known]);
  // A date in the data of an event is a text after it was stored.
  expect(asJson(await two.events(runId))).toEqual(asJson(await one.events(runId)));
  await expect(one.create(runId, step("step_started"))).rejects.toThrow(EntityConflictError);
  expect(one.owns(runId)).toBe(false);

  const again = await two.create(runId, step("step_started"));
  expect(again.step).toMatchObject({ status: "running", attempt: 2 });
  const result = { result: bytes("done") };
  expect((await two.create(runId, step("step_completed", result))).step?.status).toBe("completed");
  const { run } = await two.create(runId, endRun);
  expect(run?.status).toBe("completed");
  expect(two.owns(runId)).toBe(false);
  const types = (await two.events(runId)).map((event) => event.eventType);
  expect(types).toEqual([
    "run_created",
    "run_started",
    "step_created",
    "step_started",
    "step_retrying",
    "step_retrying",
    "step_started",
    "step_completed",
    "run_completed",
  ]);
});

test("runs that are handed over are shared by those who adopt them, each by one", async () => {
  const former = await openStore(randomUUID());
  const runIds = Array.from({ length: 9 }, () => `wrun_${randomUUID()}`);
  for (const runId of runIds) await former.create(runId, createRun);
  const [kept = "", ...free] = runIds;
  await former.release(free);
  expect(runIds.filter((runId) => former.owns(runId))).toEqual([kept]);

  const [one, two] = [await openStore(randomUUID()), await openStore(randomUUID())];
  const portions = await Promise.all([one.adopt(4), two.adopt(4)]);
  expect(portions.map((runs) => runs.length)).toEqual([4, 4]);
  const adopted = portions.flat().map(({ runId }) => runId);
  expect(adopted.toSorted()).toEqual(free.toSorted());
  expect(await one.adopt(4)).toEqual([]);
});

test("a failure is stored with its message, stack and code", async () => {
  const runId = `wrun_${randomUUID()}`;
  const store = await openStore(randomUUID());
  await store.create(runId, createRun);
  await store.create(runId, createStep);
  const failed = await store.create(runId, step("step_failed", failure));
  expect(failed.step).toMatchObject({ status: "failed", error: { message: "no", stack: "at x" } });
  const data = { error: "out of time", errorCode: "LATE" };
  await store.create(runId, { eventType: "run_failed", eventData: data } as Request);
  expect(await store.run(runId)).toMatchObject({
    status: "failed",
    error: { message: "out of time", code: "LATE" },
  });
});

const ids = (runs: readonly { readonly runId: string }[]) => runs.map(({ runId }) => runId);

test("a run is executed that a process creates when another one has taken over its runs", async () => {
  const [former, runId] = [randomUUID(), `wrun_${randomUUID()}`];
  const fenced = await openStore(former);
  await remove(former);
  await fenced.create(runId, createRun);
  expect(fenced.owns(runId)).toBe(false);
  expect(await fenced.adopt(4)).toEqual([]);
  await expect(fenced.create(runId, startRun)).rejects.toThrow(RunExpiredError);
  expect(ids(await (await openStore(randomUUID())).adopt(4))).toEqual([runId]);
});

test("a run is executed that a process gets before it learns that it was fenced", async () => {
  const [owner, runId] = [randomUUID(), `wrun_${randomUUID()}`];
  const store = await openStore(owner);
  await remove(owner);
  await register(owner);
  await store.create(runId, createRun);
  store.dropAll();
  expect(ids(await store.adopt(4))).toEqual([runId]);
});

test("removing a process waits for the runs that it is creating", async () => {
  const [owner, runId] = [randomUUID(), `wrun_${randomUUID()}`];
  const store = await openStore(owner);
  const isWaiting = async () => {
    const [row] = await sql`
      select count(*)::int as waiting from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%remove_instance%'`;
    return row?.waiting;
  };
  const other = postgres(databaseUrl(), { max: 2, onnotice: () => {} });
  let removal: Promise<unknown> | undefined;
  await other.begin(async (creating) => {
    await creating`select from engine.instances where id = ${owner} for key share`;
    removal = other`select engine.remove_instance(${owner})`.execute();
    await expect.poll(isWaiting).toBe(1);
    await creating`
      insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input,
        owner, created_at, started_at, updated_at)
      values (${runId}, 'turn', 'postgres', 1, 'running', '', ${owner}, now(), now(), now())`;
  });
  await removal;
  await other.end();
  expect(store.owns(runId)).toBe(false);
  expect(ids(await (await openStore(randomUUID())).adopt(4))).toEqual([runId]);
});

test.each([
  ["adopted", /update engine\.runs r set owner/],
  ["created", /insert into engine\.runs\b/],
])("a run is executed that was %s without an answer", async (how, statement) => {
  const runId = `wrun_${randomUUID()}`;
  if (how === "adopted") {
    const former = await openStore(randomUUID());
    await former.create(runId, createRun);
    await former.release([runId]);
  }
  let isLost = false;
  const store = await openStore(randomUUID(), async (text, execute) => {
    const rows = await execute();
    if (isLost || !statement.test(text)) return rows;
    isLost = true;
    throw new Error("The connection broke");
  });
  const act = how === "adopted" ? store.adopt(4) : store.create(runId, createRun);
  await expect(act).rejects.toThrow("The connection broke");
  expect(store.owns(runId)).toBe(false);
  expect(ids(await store.adopt(4))).toEqual([runId]);
  expect(await store.adopt(4)).toEqual([]);
});
