import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type TaskRun, taskRun } from "../../lib/tasks/task-run.ts";
import type { Answer } from "./clients.ts";
import { sql } from "./stack.ts";

/** A run with every field of the specification that a runner always gives. */
export type RawRun = TaskRun & Required<Pick<TaskRun, "metadata" | "env" | "attempts">>;

const answered = z.strictObject({
  status: z.literal("success"),
  runs: z.array(z.strictObject(taskRun.shape)),
});

/** The runs of an answer that has exactly the published shape. */
export function runsIn(answer: Answer): TaskRun[] {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answered.parse(answer.body).runs;
}

export const newRunId = (): string => `run_${randomBytes(12).toString("hex")}`;

const minute = (count: number): string =>
  new Date(Date.UTC(2026, 10, 20, 12, count, 0, count)).toISOString();

/** A run that has just begun: nothing in it that is there only sometimes. */
export function plainRun(accountId: string, change: Partial<RawRun> = {}): RawRun {
  return {
    id: newRunId(),
    status: "PENDING_VERSION",
    taskIdentifier: "create-content",
    createdAt: minute(0),
    updatedAt: minute(1),
    version: "20261120.1",
    isTest: false,
    tags: [`account:${accountId}`, "campaign:spring"],
    metadata: {},
    costInCents: 0,
    baseCostInCents: 0,
    durationMs: 0,
    env: { id: "env_1", name: "production", user: "ada" },
    depth: 0,
    triggerFunction: "trigger",
    attempts: [],
    relatedRuns: {},
    ...change,
  };
}

/** A run with all fields of the specification. */
export function fullRun(accountId: string, change: Partial<RawRun> = {}): RawRun {
  return plainRun(accountId, {
    status: "COMPLETED",
    idempotencyKey: "once",
    isTest: true,
    startedAt: minute(2),
    finishedAt: minute(3),
    delayedUntil: minute(4),
    expiredAt: minute(5),
    ttl: "1h",
    metadata: { step: "done", none: null, deep: { list: [1, null, "ü🎵"] } },
    costInCents: 0.125,
    baseCostInCents: 0.0025,
    durationMs: 61_250.5,
    depth: 2,
    batchId: "batch_1",
    triggerFunction: "batchTrigger",
    payload: { artist: "a", none: null, list: [] },
    output: {
      videoSourceUrl: "https://example.com/v.mp4",
      imageUrl: "https://example.com/i.png",
      captionText: "A caption",
      template: "album-art",
      lipsync: false,
      audio: {
        songTitle: "Song",
        songFilename: "song.mp3",
        startSeconds: 1.5,
        durationSeconds: 8,
        clipLyrics: "la la",
        clipMood: "bright",
      },
    },
    error: { message: "A late fault", name: "Error", stackTrace: "Error: A late fault" },
    attempts: [
      {
        id: "attempt_1",
        status: "PENDING",
        createdAt: minute(2),
        updatedAt: minute(2),
        startedAt: minute(2),
        completedAt: minute(3),
        error: { message: "First try", name: "Error", stackTrace: "Error: First try" },
      },
    ],
    schedule: { id: "sched_1", generator: { type: "CRON", expression: "0 0 * * *" } },
    relatedRuns: { root: { id: "run_root", status: "COMPLETED" }, children: [] },
    ...change,
  });
}

/** As the two calls of Trigger.dev tell it, with some of the fields that the service leaves out. */
export function splitForTrigger(run: RawRun): { item: object; single: object } {
  const { env, depth, batchId, triggerFunction, payload, output, error, ...rest } = run;
  const { attempts, schedule, relatedRuns, ...common } = rest;
  const flags = { isQueued: false, isCompleted: run.status === "COMPLETED", region: "us-east-1" };
  return {
    item: { ...common, ...flags, env },
    single: {
      ...common,
      ...flags,
      ...{ depth, batchId, triggerFunction, payload, output, error },
      ...{ attempts, attemptCount: attempts.length, schedule, relatedRuns },
    },
  };
}

/** Straight into the embedded runner's table. */
export async function insertRun(accountId: string, run: RawRun): Promise<void> {
  const json = (value: unknown) =>
    value === undefined ? null : sql.json(JSON.parse(JSON.stringify(value)));
  await sql`insert into task_runs ${sql({
    id: run.id,
    account_id: accountId,
    status: run.status,
    task_identifier: run.taskIdentifier,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    idempotency_key: run.idempotencyKey ?? null,
    version: run.version ?? "1",
    is_test: run.isTest ?? false,
    started_at: run.startedAt ?? null,
    finished_at: run.finishedAt ?? null,
    delayed_until: run.delayedUntil ?? null,
    expired_at: run.expiredAt ?? null,
    ttl: run.ttl === undefined ? null : String(run.ttl),
    tags: run.tags,
    metadata: json(run.metadata),
    cost_in_cents: run.costInCents ?? null,
    base_cost_in_cents: run.baseCostInCents ?? null,
    duration_ms: run.durationMs ?? 0,
    env: json(run.env),
    depth: run.depth ?? 0,
    batch_id: run.batchId ?? null,
    trigger_function: run.triggerFunction ?? "trigger",
    payload: json(run.payload),
    output: json(run.output),
    error: json(run.error),
    attempts: json(run.attempts),
    schedule: json(run.schedule),
    related_runs: json(run.relatedRuns),
  })}`;
}
