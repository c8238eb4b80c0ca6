/**
 * Processes that share a database through the PostgreSQL World. This file is long because its tests share them.
 */
import { EntityConflictError, HookNotFoundError } from "@workflow/errors";
import type { World } from "@workflow/world";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresWorld } from "../../../packages/world-postgres/src/postgres-world.ts";
import { createEngineDatabase } from "../../support/harness/engine-database.ts";

type Request = Parameters<World["events"]["create"]>[1];
type FirstStep = Parameters<PostgresWorld["startingWith"]>[0];
type Result = Awaited<ReturnType<World["events"]["create"]>>;

const bytes = (text: string) => new TextEncoder().encode(text);
const PREFIX = "__wkf_workflow_";
const NO_OWNER = "00000000-0000-0000-0000-000000000000";
const newRunId = () => `wrun_${crypto.randomUUID()}`;

let database: Awaited<ReturnType<typeof createEngineDatabase>>;
beforeAll(async () => {
  database = await createEngineDatabase();
});
afterAll(() => database.drop());

/** A process: its World, and the ids of the runs that it was asked to continue. */
function openProcess() {
  const replayed: string[] = [];
  const opening = PostgresWorld.open(database.url, () => {});
  const { world } = opening;
  world.createQueueHandler(PREFIX, async (message) => {
    replayed.push((message as { runId: string }).runId);
  });
  const create = (runId: string, eventType: string, correlationId?: string, eventData?: object) =>
    world.events.create(runId, {
      eventType,
      ...(correlationId && { correlationId }),
      ...(eventData && { eventData }),
    } as Request) as Promise<Result>;
  const types = async (runId: string) => {
    const { data } = await world.events.list({ runId, pagination: { sortOrder: "asc" } });
    return data.map(({ eventType }) => eventType);
  };
  /** Starts a run as the SDK does: creates it, and queues its first message at the same time. */
  const startRun = async (runId: string, firstStep: FirstStep) => {
    const starting = opening.startingWith(firstStep);
    const creating = create(runId, "run_created", undefined, newRun);
    const runInput = { ...newRun, specVersion: 2 };
    await starting.queue(`${PREFIX}flow`, { runId, runInput });
    await creating;
  };
  const drain = () => opening.drain(AbortSignal.timeout(10_000));
  return { world, replayed, create, types, startRun, drain };
}

const servers: ReturnType<typeof openProcess>[] = [];

async function startProcess() {
  const started = openProcess();
  servers.push(started);
  await started.world.start?.();
  return started;
}

const newRun = { deploymentId: "postgres", workflowName: "flow", input: bytes("in") };

test("a payload that another process receives reaches the owner of the run", async () => {
  const [owner, other, runId] = [await startProcess(), await startProcess(), newRunId()];
  const [hookId, token] = [`hook_${runId}`, `token ${runId}`];
  await owner.create(runId, "run_created", undefined, newRun);
  const { hook } = await owner.create(runId, "hook_created", hookId, { token, isWebhook: true });
  expect(hook).toMatchObject({ runId, hookId, token, isWebhook: true });
  expect(await other.world.hooks.getByToken(token)).toEqual(hook);

  await other.create(runId, "hook_received", hookId, { token, payload: bytes("one") });
  await other.world.queue(`${PREFIX}flow`, { runId });
  await expect.poll(() => owner.replayed).toContain(runId);
  expect(other.replayed).toEqual([]);
  // Through the owner, after the messages that another process received first.
  await owner.create(runId, "hook_received", hookId, { token, payload: bytes("two") });
  const { data } = await owner.world.events.listByCorrelationId({ correlationId: hookId });
  expect(data.map((event) => "eventData" in event && event.eventData)).toMatchObject([
    { token },
    { payload: bytes("one") },
    { payload: bytes("two") },
  ]);
  const unresolved = await other.world.events.listByCorrelationId({
    correlationId: hookId,
    runId,
    resolveData: "none",
    pagination: { limit: 1, cursor: data[0]?.eventId as string },
  });
  expect(unresolved).toMatchObject({ hasMore: true, cursor: data[1]?.eventId });
  expect(unresolved.data).toMatchObject([{ eventType: "hook_received", eventData: { token } }]);
  expect(JSON.stringify(unresolved.data)).not.toContain("payload");

  await owner.create(runId, "run_completed", undefined, { output: bytes("out") });
  await expect(other.world.hooks.getByToken(token)).rejects.toThrow(HookNotFoundError);
  await expect(
    other.create(runId, "hook_received", hookId, { token, payload: bytes("three") }),
  ).rejects.toThrow(HookNotFoundError);
});

test("a payload that a fenced process receives reaches the next owner of the run", async () => {
  const [owner, other, runId] = [await startProcess(), await startProcess(), newRunId()];
  const [hookId, token] = [`hook_${runId}`, `token ${runId}`];
  await owner.create(runId, "run_created", undefined, newRun);
  await owner.create(runId, "hook_created", hookId, { token });
  // The state after the end of its session, which the process has yet to notice.
  const sql = postgres(database.url, { max: 1 });
  await sql`update engine.runs set owner = ${NO_OWNER} where run_id = ${runId}`;
  await owner.create(runId, "hook_received", hookId, { token, payload: bytes("late") });
  await sql`select pg_notify('engine_free_runs', '')`;
  await sql.end();
  await expect.poll(() => servers.flatMap(({ replayed }) => replayed)).toContain(runId);
  expect(await other.types(runId)).toContain("hook_received");
});

test("a token belongs to one hook until that hook is disposed of", async () => {
  const [owner, one, two] = [await startProcess(), newRunId(), newRunId()];
  const token = `token ${one}`;
  for (const runId of [one, two]) await owner.create(runId, "run_created", undefined, newRun);
  await owner.create(one, "hook_created", "hook_1", { token });
  await expect(owner.create(one, "hook_created", "hook_1", { token })).rejects.toThrow(
    EntityConflictError,
  );
  const { event, hook } = await owner.create(two, "hook_created", "hook_2", { token });
  expect(hook).toBeUndefined();
  expect(event).toMatchObject({
    eventType: "hook_conflict",
    eventData: { token, conflictingRunId: one },
  });
  await owner.create(one, "hook_disposed", "hook_1", { token });
  await expect(owner.create(one, "hook_disposed", "hook_1")).rejects.toThrow(HookNotFoundError);
  const next = await owner.create(two, "hook_created", "hook_3", { token });
  expect(next.hook).toMatchObject({ runId: two, hookId: "hook_3" });
  expect((await owner.world.hooks.list({ runId: two })).data).toEqual([next.hook]);
});

test("another process cancels a run, and its owner writes nothing more", async () => {
  const [owner, other, runId] = [await startProcess(), await startProcess(), newRunId()];
  await owner.create(runId, "run_created", undefined, newRun);
  await owner.create(runId, "step_created", "step_1", { stepName: "s", input: bytes("in") });
  const { run } = await other.create(runId, "run_cancelled");
  expect(run).toMatchObject({ runId, status: "cancelled" });
  await expect(owner.create(runId, "step_completed", "step_1", { result: 1 })).rejects.toThrow(
    EntityConflictError,
  );
  expect((await other.create(runId, "run_cancelled")).run?.status).toBe("cancelled");
  expect(await owner.types(runId)).toEqual([
    "run_created",
    "run_started",
    "step_created",
    "step_started",
    "run_cancelled",
  ]);
  await expect(other.create(newRunId(), "run_cancelled")).rejects.toThrow("not found");
});

test("a run that is cancelled twice in one statement is cancelled once", async () => {
  const [owner, other] = [await startProcess(), await startProcess()];
  const [first, twice] = [newRunId(), newRunId()];
  for (const runId of [first, twice]) await owner.create(runId, "run_created", undefined, newRun);
  const cancelled = await Promise.all(
    [first, twice, twice].map((runId) => other.create(runId, "run_cancelled")),
  );
  expect(cancelled.map(({ run }) => run?.status)).toEqual(Array(3).fill("cancelled"));
  expect(await owner.types(twice)).toEqual(["run_created", "run_started", "run_cancelled"]);
});

test("another process ends a wait, once", async () => {
  const [owner, other, runId] = [await startProcess(), await startProcess(), newRunId()];
  const resumeAt = new Date(Date.now() + 3_600_000);
  await owner.create(runId, "run_created", undefined, newRun);
  await owner.create(runId, "wait_created", "wait_1", { resumeAt });
  await expect(owner.create(runId, "wait_created", "wait_1", { resumeAt })).rejects.toThrow(
    EntityConflictError,
  );
  const { data } = await other.world.events.list({ runId });
  expect(data.at(-1)).toMatchObject({ eventType: "wait_created", eventData: { resumeAt } });
  await other.create(runId, "wait_completed", "wait_1", { resumeAt });
  await other.create(runId, "wait_completed", "wait_1", { resumeAt });
  await other.world.queue(`${PREFIX}flow`, { runId });
  await expect.poll(() => owner.replayed).toContain(runId);
  await expect(other.create(runId, "wait_completed", "wait_1")).rejects.toThrow(
    EntityConflictError,
  );
  const ended = (await owner.types(runId)).filter((type) => type === "wait_completed");
  expect(ended).toHaveLength(1);
});

test("a run that a tool creates is executed by a process that executes runs", async () => {
  const [server, tool, runId] = [await startProcess(), openProcess(), newRunId()];
  await tool.create(runId, "run_created", undefined, newRun);
  await tool.world.queue(`${PREFIX}flow`, { runId });
  await expect.poll(() => servers.flatMap(({ replayed }) => replayed)).toContain(runId);
  expect(tool.replayed).toEqual([]);
  expect(await server.world.runs.get(runId)).toMatchObject({ status: "running" });
});

test("a run ends with its first step, and its workflow is not executed", async () => {
  const [owner, runId] = [await startProcess(), newRunId()];
  await owner.startRun(runId, async () => true);
  await expect.poll(async () => (await owner.world.runs.get(runId)).status).toBe("completed");
  expect(await owner.types(runId)).toEqual(["run_created", "run_started", "run_completed"]);
  expect(owner.replayed).not.toContain(runId);
});

test("the workflow of a run is executed after a first step that fails or leaves the rest to it", async () => {
  const owner = await startProcess();
  for (const firstStep of [async () => false, () => Promise.reject(new Error("No"))]) {
    const runId = newRunId();
    await owner.startRun(runId, firstStep);
    await expect.poll(() => owner.replayed).toContain(runId);
    expect(await owner.world.runs.get(runId)).toMatchObject({ status: "running" });
  }
});

test("a process that drains hands a run over after its first step", async () => {
  const [leaving, other, runId] = [openProcess(), await startProcess(), newRunId()];
  await leaving.world.start?.();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  await leaving.startRun(runId, () => {
    begin();
    return ended;
  });
  await begun;
  const drained = leaving.drain();
  end(false);
  await drained;
  await expect.poll(() => servers.flatMap(({ replayed }) => replayed)).toContain(runId);
  expect(leaving.replayed).toEqual([]);
  await other.create(runId, "run_cancelled");
});

test("runs and steps are listed in pages, filtered, with and without their data", async () => {
  const { world, create } = await startProcess();
  const workflowName = `flow ${crypto.randomUUID()}`;
  const prefix = newRunId();
  const runIds = ["a", "b", "c"].map((suffix) => `${prefix}${suffix}`);
  for (const runId of runIds) {
    await create(runId, "run_created", undefined, { ...newRun, workflowName });
  }
  const [first, second, third] = runIds;
  const one = await world.runs.list({ workflowName, pagination: { limit: 2 } });
  expect(one.data.map(({ runId }) => runId)).toEqual([third, second]);
  // The request of the SDK's tools for the first page.
  expect(await world.runs.list({ workflowName, pagination: { limit: 2, cursor: "" } })).toEqual(
    one,
  );
  expect(one.hasMore).toBe(true);
  const two = await world.runs.list({
    workflowName,
    resolveData: "none",
    pagination: { limit: 2, cursor: one.cursor as string },
  });
  expect(two).toMatchObject({ data: [{ runId: first, input: undefined }], hasMore: false });
  const ascending = await world.runs.list({ workflowName, pagination: { sortOrder: "asc" } });
  expect(ascending.data.map(({ runId }) => runId)).toEqual(runIds);

  const runId = first as string;
  for (const stepId of ["step_1", "step_2"]) {
    await create(runId, "step_created", stepId, { stepName: "s", input: bytes(stepId) });
  }
  await create(runId, "step_completed", "step_2", { result: bytes("done") });
  const steps = await world.steps.list({ runId });
  expect(steps.data).toMatchObject([
    { stepId: "step_2", status: "completed", output: bytes("done") },
    { stepId: "step_1", status: "running", output: undefined },
  ]);
  expect(await world.steps.get(runId, "step_2")).toEqual(steps.data[0]);
  expect(await world.steps.get(runId, "step_2", { resolveData: "none" })).toMatchObject({
    input: undefined,
    output: undefined,
  });
  await create(runId, "run_failed", undefined, { error: "a\0b \ud800", errorCode: "USER_ERROR" });
  const failed = await world.runs.list({ workflowName, status: "failed" });
  expect(failed.data).toMatchObject([
    { runId, error: { message: "a\uFFFDb \uFFFD", code: "USER_ERROR" } },
  ]);
});

test("the order of events is the same in memory and in the database", async () => {
  const { world, create } = await startProcess();
  const runId = newRunId();
  await create(runId, "run_created", undefined, newRun);
  const stepIds = Array.from({ length: 30 }, (_, index) => `step_${index}`);
  await Promise.all(
    stepIds.map(async (stepId) => {
      await create(runId, "step_created", stepId, { stepName: "s", input: bytes("in") });
      await create(runId, "step_completed", stepId, { result: bytes("out") });
    }),
  );
  const inMemory = await world.events.list({ runId, pagination: { sortOrder: "asc" } });
  const stored = await world.events.list({ runId, pagination: { limit: 1_000 } });
  expect(inMemory.data).toHaveLength(2 + 3 * stepIds.length);
  expect(stored.data.map(({ eventId }) => eventId)).toEqual(
    inMemory.data.map(({ eventId }) => eventId),
  );
});

test("streams keep the order of each writer, and a reader sees all chunks once", async () => {
  const [one, two] = [await startProcess(), await startProcess()];
  const runId = newRunId();
  const name = `strm_${runId}`;
  const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk);
  const reading = (async () => {
    const chunks: string[] = [];
    for await (const chunk of await two.world.readFromStream(name)) chunks.push(text(chunk));
    return chunks;
  })();
  const write = async (world: World, writer: string) => {
    for (let index = 0; index < 50; index++) {
      await world.writeToStreamMulti?.(name, runId, [`${writer}${index}`, bytes(`${writer}+`)]);
    }
  };
  await Promise.all([write(one.world, "a"), write(two.world, "b")]);
  expect(await one.world.getStreamInfo(name, runId)).toEqual({ tailIndex: 199, done: false });
  await one.world.closeStream(name, runId);
  await one.world.writeToStream(name, runId, "late");
  const chunks = await reading;
  expect(chunks).toHaveLength(200);
  for (const writer of ["a", "b"]) {
    const own = chunks.filter((chunk) => chunk.startsWith(writer) && !chunk.endsWith("+"));
    expect(own).toEqual(Array.from({ length: 50 }, (_, index) => `${writer}${index}`));
  }
  const last: string[] = [];
  for await (const chunk of await one.world.readFromStream(name, -3)) last.push(text(chunk));
  expect(last).toEqual(chunks.slice(-3));
  const first = await two.world.getStreamChunks(name, runId, { limit: 150 });
  const rest = await two.world.getStreamChunks(name, runId, { cursor: first.cursor as string });
  expect([first.hasMore, rest.hasMore, rest.done, rest.cursor]).toEqual([true, false, true, null]);
  const paged = [...first.data, ...rest.data];
  expect(paged.map(({ data }) => text(data))).toEqual(chunks);
  expect(paged.map(({ index }) => index)).toEqual(chunks.map((_, index) => index));
  expect(await two.world.listStreamsByRunId(runId)).toEqual([name]);
});
