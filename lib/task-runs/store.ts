/**
 * Task runs in the database (supabase/schemas/55_generations.sql).
 * @throws DatabaseUnavailable from every function here.
 */

import { randomBytes } from "node:crypto";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { uuid } from "@platform/endpoint/contract/fields";
import {
  budgetReached,
  mediaQuotaExceeded,
  unpricedModel,
} from "@platform/endpoint/contract/quota";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { RunPage } from "./port.ts";
import { type TaskRun, taskRun } from "./task-run.ts";

type JsonObject = Readonly<Record<string, unknown>>;

export interface NewRun {
  /** The account that owns the run. */
  readonly accountId: string;
  /** The kind of work, such as `generate-video`. */
  readonly taskIdentifier: string;
  /** JSON that the account can read: no credentials. */
  readonly payload: unknown;
  readonly metadata: JsonObject;
  readonly leaseSeconds: number;
  /** Identifies the effect of the run: `effectId` of an idempotent request, otherwise a new UUID. */
  readonly effectId: string;
  /** The request's `Idempotency-Key`, which the run shows to its account; null without one. */
  readonly idempotencyKey: string | null;
  /** The artist that the work is for; undefined for the one of the run that `credentialId` belongs to. */
  readonly artistId?: string | undefined;
  /** The id of the caller's key; null for a bearer. */
  readonly credentialId?: string | null;
  /** How many active runs the account may have; 0 means no limit. */
  readonly maxActiveRuns: number;
  /** The cost, which is reserved from the account's budget; null when it is not known. */
  readonly costUsd: number | null;
  /** No run starts while the media of the account take as many bytes; 0 means no limit. */
  readonly mediaLimitBytes: number;
}

const begun = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("begun") }),
  z.object({ outcome: z.literal("earlier"), run_id: z.string(), output: z.unknown() }),
  z.object({ outcome: z.enum(["busy", "full", "over_budget", "unpriced_model"]) }),
]);

const refusals = {
  busy: appError("too_many_generations", "Too many requests", { headers: { "retry-after": "5" } }),
  full: mediaQuotaExceeded,
  over_budget: budgetReached,
  unpriced_model: unpricedModel,
} as const;

/**
 * Inserts an active run, tagged for its account, which becomes CRASHED when its lease expires. At
 * most one run with a given effect id is active or completed, across all processes: others get that
 * run, whose output is null while it is active. Errors: 402 when the budget is spent; 403 when the
 * account has no room for media; 429 when it has too many active runs.
 */
export async function beginRun(
  db: Database,
  run: NewRun,
): Promise<{ readonly runId: string; readonly output?: unknown } | AppError> {
  const runId = `run_${randomBytes(12).toString("hex")}`;
  const args = {
    id: runId,
    accountId: run.accountId,
    taskIdentifier: run.taskIdentifier,
    payload: run.payload ?? null,
    metadata: run.metadata,
    leaseSeconds: run.leaseSeconds,
    effectId: run.effectId,
    atOnce: run.maxActiveRuns,
    idempotencyKey: run.idempotencyKey,
    mediaLimitBytes: run.mediaLimitBytes,
    artistId: run.artistId ?? null,
    credentialId: run.credentialId ?? null,
    costUsd: run.costUsd,
  };
  const answer = await call(db, "start_generation", args, begun);
  if (answer.outcome === "begun") return { runId };
  if (answer.outcome === "earlier") return { runId: answer.run_id, output: answer.output };
  return refusals[answer.outcome];
}

/** The stack trace is left empty, because callers can read the run; the log has it. */
export function failureOf({ code, message }: Pick<AppError, "code" | "message">) {
  return { status: "FAILED", error: { name: code, message, stackTrace: "" } } as const;
}

export function renewLeases(
  db: Database,
  ids: readonly string[],
  leaseSeconds: number,
): Promise<null> {
  return call(db, "renew_task_leases", { ids, leaseSeconds });
}

/** Replaces the given keys of the run's metadata and keeps the others. */
export async function mergeMetadata(db: Database, id: string, metadata: JsonObject): Promise<void> {
  await call(db, "note_task_progress", { id, metadata });
}

/**
 * Ends a run and queues the event for webhooks. Has no effect on a run that has already ended.
 */
export async function endRun(
  { db, webhookWorker }: Parts<"db" | "webhookWorker">,
  id: string,
  end:
    | { readonly status: "COMPLETED"; readonly output: unknown }
    | { readonly status: "FAILED"; readonly error: TaskRun["error"] },
): Promise<void> {
  const args = {
    id,
    status: end.status,
    output: "output" in end ? end.output : null,
    error: "error" in end ? end.error : null,
  };
  if (await call(db, "end_task_run", args)) webhookWorker.wake();
}

const storedRun = rowOf(taskRun.extend({ artistId: uuid.nullable() })).transform(
  ({ artistId, tags, ...run }): TaskRun => ({
    ...run,
    tags: artistId === null ? tags : [...tags, `artist:${artistId}`],
  }),
);

/** Returns the runs of the account or of one of its artists, newest first. */
export function selectRuns(
  db: Database,
  { accountId, limit, artistId }: RunPage,
): Promise<TaskRun[]> {
  const args = { accountId, limit, artistId: artistId ?? null };
  return call(db, "list_task_runs", args, z.array(storedRun));
}

/** Returns null when the account has no such run. */
export function selectRun(db: Database, accountId: string, id: string): Promise<TaskRun | null> {
  return call(db, "get_task_run", { accountId, id }, storedRun.nullable());
}

/** Returns whether the credential that asked for a generation still may. */
export const hasAuthority = (
  db: Database,
  accountId: string,
  runId: string,
  credentialId: string | null,
): Promise<boolean> => call(db, "has_generation_authority", { accountId, runId, credentialId });

/** Stores the input of a task's durable run until `takeJob`. */
export async function queueJob(
  db: Database,
  accountId: string,
  runId: string,
  job: object,
): Promise<void> {
  await call(db, "queue_task_job", { accountId, runId, job });
}

/** Returns the job of an active run to one of all callers, and null to the others. */
export const takeJob = (db: Database, accountId: string, runId: string): Promise<unknown> =>
  call(db, "take_task_job", { accountId, runId }, z.unknown());

/** Records the run with which another service runs the task. */
export async function recordRemoteRun(
  db: Database,
  accountId: string,
  id: string,
  remoteId: string,
): Promise<void> {
  await call(db, "record_remote_run", { accountId, id, remoteRunId: remoteId });
}
