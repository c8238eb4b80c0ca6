/**
 * Task runs in the database (supabase/schemas/55_generations.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import { deliveryWorker } from "../webhooks/delivery-worker.ts";
import { type TaskRun, taskRun } from "./task-run.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface NewRun {
  readonly id: string;
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

const inserted = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("begun") }),
  /** Another run has the same effect id; its output is null while it is active. */
  z.object({ outcome: z.literal("earlier"), run_id: z.string(), output: z.unknown() }),
  /** `busy`: too many active runs. `full`: no room for media. `over_budget`: the budget is spent. */
  z.object({ outcome: z.enum(["busy", "full", "over_budget", "unpriced_model"]) }),
]);

/** Inserts an active run, tagged for its account, or returns the reason why it may not start. */
export function insertRun(run: NewRun): Promise<z.output<typeof inserted>> {
  const args = {
    p_id: run.id,
    p_account_id: run.accountId,
    p_task_identifier: run.taskIdentifier,
    p_payload: run.payload ?? null,
    p_metadata: run.metadata,
    p_lease_seconds: run.leaseSeconds,
    p_effect_id: run.effectId,
    p_at_once: run.maxActiveRuns,
    p_idempotency_key: run.idempotencyKey,
    p_media_limit_bytes: run.mediaLimitBytes,
    p_artist_id: run.artistId ?? null,
    p_credential_id: run.credentialId ?? null,
    p_cost_usd: run.costUsd,
  };
  return call("start_generation", args, inserted);
}

export function renewLeases(ids: readonly string[], leaseSeconds: number): Promise<null> {
  return call("renew_task_leases", { p_ids: ids, p_lease_seconds: leaseSeconds }, z.null());
}

/** Replaces the given keys of the run's metadata and keeps the others. */
export async function mergeMetadata(id: string, metadata: JsonObject): Promise<void> {
  await call("note_task_progress", { p_id: id, p_metadata: metadata }, z.null());
}

/**
 * Ends a run and queues the event for webhooks. Has no effect on a run that has already ended.
 */
export async function endRun(
  id: string,
  end:
    | { readonly status: "COMPLETED"; readonly output: unknown }
    | { readonly status: "FAILED"; readonly error: TaskRun["error"] },
): Promise<void> {
  const args = {
    p_id: id,
    p_status: end.status,
    p_output: "output" in end ? end.output : null,
    p_error: "error" in end ? end.error : null,
  };
  if (await call("end_task_run", args, z.boolean())) deliveryWorker().wake();
}

/** Returns the runs of the account, newest first. */
export const selectRuns = (accountId: string, limit: number): Promise<TaskRun[]> =>
  call("list_task_runs", { p_account_id: accountId, p_limit: limit }, z.array(taskRun));

/** Returns the runs of the account that are for the artist, newest first. */
export const selectArtistRuns = (
  accountId: string,
  artistId: string,
  limit: number,
): Promise<TaskRun[]> =>
  call(
    "list_artist_task_runs",
    { p_account_id: accountId, p_artist_id: artistId, p_limit: limit },
    z.array(taskRun),
  );

/** Returns null when the account has no such run. */
export function selectRun(accountId: string, id: string): Promise<TaskRun | null> {
  return call("get_task_run", { p_account_id: accountId, p_id: id }, taskRun.nullable());
}

/** Returns whether the credential that asked for a generation still may. */
export const hasAuthority = (
  accountId: string,
  runId: string,
  credentialId: string | null,
): Promise<boolean> =>
  call(
    "has_generation_authority",
    { p_account_id: accountId, p_run_id: runId, p_credential_id: credentialId },
    z.boolean(),
  );

/** Stores the input of a task's durable run until `takeJob`. */
export async function queueJob(accountId: string, runId: string, job: object): Promise<void> {
  const args = { p_account_id: accountId, p_run_id: runId, p_job: job };
  await call("queue_task_job", args, z.null());
}

/** Returns the job of an active run to one of all callers, and null to the others. */
export const takeJob = (accountId: string, runId: string): Promise<unknown> =>
  call("take_task_job", { p_account_id: accountId, p_run_id: runId }, z.unknown());

/** Records the run with which another service runs the task. */
export async function recordRemoteRun(
  accountId: string,
  id: string,
  remoteId: string,
): Promise<void> {
  const args = { p_account_id: accountId, p_id: id, p_remote_run_id: remoteId };
  await call("record_remote_run", args, z.null());
}
