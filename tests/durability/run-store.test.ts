/** The run state that a new owner loads is the one that the former owner had in memory. */
import { randomUUID } from "node:crypto";
import { EntityConflictError, TooEarlyError } from "@workflow/errors";
import { expect, test } from "vitest";
import { openPool } from "../../lib/engine/adapters/postgres/database.ts";
import { RunStore } from "../../lib/engine/adapters/postgres/run-store.ts";
import { setting } from "../support/harness/stack.ts";

type Request = Parameters<RunStore["create"]>[1];

const bytes = (text: string) => new TextEncoder().encode(text);
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const failure = { error: { message: "no" }, stack: "at x" };
const correlationId = "step_1";

const createRun = {
  eventType: "run_created",
  eventData: { deploymentId: "postgres", workflowName: "turn", input: bytes("run") },
} as Request;
const createStep = {
  eventType: "step_created",
  correlationId,
  eventData: { stepName: "model", input: bytes("step") },
} as Request;
const step = (eventType: string, eventData?: object) =>
  ({ eventType, correlationId, ...(eventData && { eventData }) }) as Request;
const endRun = { eventType: "run_completed", eventData: { output: bytes("end") } } as Request;

const openStore = (owner: string) =>
  new RunStore(openPool(setting("DATABASE_URL"), () => {}).sql, owner);

test("a run moves to another owner with its steps, attempts and events", async () => {
  const [former, next, runId] = [randomUUID(), randomUUID(), `wrun_${randomUUID()}`];
  const one = openStore(former);
  await one.create(runId, createRun);
  await expect(openStore(next).create(runId, createRun)).rejects.toThrow(EntityConflictError);
  await one.create(runId, createStep);
  await one.create(runId, step("step_started"));
  const tomorrow = new Date(Date.now() + 86_400_000);
  await one.create(runId, step("step_retrying", { ...failure, retryAfter: tomorrow }));
  await expect(one.create(runId, step("step_started"))).rejects.toThrow(TooEarlyError);
  const retryAfter = new Date();
  const retrying = await one.create(runId, step("step_retrying", { ...failure, retryAfter }));
  expect(retrying.step).toMatchObject({ status: "pending", attempt: 1, retryAfter });

  const two = openStore(next);
  // PostgreSQL returns bytes as a Buffer, and the takeover sets the time of the update.
  const { input: _, updatedAt: __, ...known } = await one.run(runId);
  expect(await two.takeOver(former)).toMatchObject([known]);
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

test("a failure is stored with its message, stack and code", async () => {
  const runId = `wrun_${randomUUID()}`;
  const store = openStore(randomUUID());
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
