/** What the embedded runner writes (supabase/migrations/…_task_runs.sql). */
import { z } from "zod";
import { call } from "../../../platform/database/query.ts";
import type { TaskRun } from "../../task-run.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const begun = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("begun") }),
  /** Another run has the effect; its output is null while it is under way. */
  z.object({ outcome: z.literal("earlier"), run_id: z.string(), output: z.unknown() }),
  z.object({ outcome: z.enum(["busy", "full"]) }),
]);

/** A run that begins now, tagged for its account, or why it does not. @throws DatabaseUnavailable */
export function insertRun(run: {
  readonly id: string;
  readonly accountId: string;
  readonly taskIdentifier: string;
  readonly payload: unknown;
  readonly metadata: JsonObject;
  readonly leaseSeconds: number;
  readonly effectId: string;
  /** How many runs the account may have under way; 0 is no limit. */
  readonly atOnce: number;
  readonly idempotencyKey: string | null;
  /** How many bytes of media the account may keep; 0 is no limit. */
  readonly mediaLimitBytes: number;
}): Promise<z.output<typeof begun>> {
  const args = {
    p_id: run.id,
    p_account_id: run.accountId,
    p_task_identifier: run.taskIdentifier,
    p_payload: run.payload ?? null,
    p_metadata: run.metadata,
    p_lease_seconds: run.leaseSeconds,
    p_effect_id: run.effectId,
    p_at_once: run.atOnce,
    p_idempotency_key: run.idempotencyKey,
    p_media_limit_bytes: run.mediaLimitBytes,
  };
  return call("start_task_run", args, begun);
}

/** @throws DatabaseUnavailable */
export function renewLeases(ids: readonly string[], leaseSeconds: number): Promise<void> {
  return change("renew_task_leases", { p_ids: ids, p_lease_seconds: leaseSeconds });
}

/** The keys given replace those of the run's metadata. @throws DatabaseUnavailable */
export function mergeMetadata(id: string, metadata: JsonObject): Promise<void> {
  return change("note_task_progress", { p_id: id, p_metadata: metadata });
}

/** Without effect on a run that has ended before. @throws DatabaseUnavailable */
export function endRun(
  id: string,
  end:
    | { readonly status: "COMPLETED"; readonly output: unknown }
    | { readonly status: "FAILED"; readonly error: TaskRun["error"] },
): Promise<void> {
  return change("end_task_run", {
    p_id: id,
    p_status: end.status,
    p_output: "output" in end ? end.output : null,
    p_error: "error" in end ? end.error : null,
  });
}

async function change(name: string, args: JsonObject): Promise<void> {
  await call(name, args, z.null());
}
