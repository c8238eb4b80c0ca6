/**
 * Runs work in this process as a task run that its account finds in `GET /api/tasks/runs`, also
 * when whoever started it has gone. Decisions, section 8.
 *
 *     const started = await runTask(
 *       {
 *         ...{ accountId, effectId, idempotencyKey, atOnce: 20, mediaLimitBytes },
 *         ...{ taskIdentifier: "generate-video", payload: { prompt } },
 *       },
 *       async (run) => {
 *         await run.progress({ step: "rendering" });
 *         return { videoSourceUrl };
 *       },
 *     );
 *     if (isAppError(started)) return started;
 *     const output = "result" in started ? await started.result : started.output;
 */
import { randomBytes } from "node:crypto";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { mediaQuotaExceeded } from "../../../contract/quota.ts";
import { log } from "../../../platform/log.ts";
import { holdLease, LEASE_SECONDS } from "./lease.ts";
import { endRun, insertRun, type JsonObject, mergeMetadata } from "./store.ts";

export interface TaskRequest {
  /** Whose run it is. */
  readonly accountId: string;
  /** What the run brings about: `effectId` of an idempotent request, else a new UUID. */
  readonly effectId: string;
  /** Of the request, as the caller wrote it: the run shows it to its account. Null without one. */
  readonly idempotencyKey: string | null;
  /** How many runs the account may have under way; 0 is no limit. */
  readonly atOnce: number;
  /** No run begins while the account's media take as many bytes; 0 is no limit. */
  readonly mediaLimitBytes: number;
  /** What kind of work it is: `generate-video`. */
  readonly taskIdentifier: string;
  /** JSON, shown to the account: no credentials. */
  readonly payload: unknown;
  readonly metadata?: JsonObject;
}

export interface RunningTask {
  readonly id: string;
  /** Merges into the run's metadata. @throws DatabaseUnavailable */
  progress(metadata: JsonObject): Promise<void>;
}

export interface StartedTask<T> {
  readonly runId: string;
  /**
   * What the work gave, once the run says so too. It may be left alone: the run goes on.
   * Rejects with what the work threw, or with DatabaseUnavailable.
   */
  readonly result: Promise<T | AppError>;
}

/** What has the effect already, or will. */
export interface EarlierRun {
  readonly runId: string;
  /** Null while it is under way. */
  readonly output: unknown;
}

/**
 * Begins a run, and then the work. The run becomes COMPLETED with what the work returns as its
 * output; FAILED with the text of an AppError that it returns; FAILED with a text that tells
 * nothing when it throws; CRASHED when this process dies first.
 *
 * Of all runs with one effect id, whichever processes begin them, one at most is under way or
 * completed: that one is returned to the others, and their work is not started. A run that failed or
 * crashed leaves the effect to the next.
 *
 * Errors: 429 while the account has as many runs under way as it may have, 403 while it has no room
 * for media.
 * @throws DatabaseUnavailable: no run has begun, and the work was not started
 */
export async function runTask<T extends object>(
  request: TaskRequest,
  work: (run: RunningTask) => Promise<T | AppError>,
): Promise<StartedTask<T> | EarlierRun | AppError> {
  const id = `run_${randomBytes(12).toString("hex")}`;
  const run = { metadata: {}, ...request, id, leaseSeconds: LEASE_SECONDS };
  const begun = await insertRun(run);
  if (begun.outcome === "busy") return tooManyRuns;
  if (begun.outcome === "full") return mediaQuotaExceeded;
  if (begun.outcome === "earlier") return { runId: begun.run_id, output: begun.output };
  const result = finish(id, work);
  // Nobody needs to wait for it: a failure is in the run, and must not end the process.
  result.catch((error: unknown) => log().error({ err: error, runId: id }, "A task run failed"));
  return { runId: id, result };
}

const tooManyRuns = appError("rate_limited", "Too many requests", {
  headers: { "retry-after": "5" },
});

async function finish<T extends object>(
  id: string,
  work: (run: RunningTask) => Promise<T | AppError>,
): Promise<T | AppError> {
  const release = holdLease(id);
  const run: RunningTask = { id, progress: (metadata) => mergeMetadata(id, metadata) };
  try {
    const output = await work(run).catch(async (error: unknown) => {
      await endRun(id, failure("internal", "Internal server error"));
      throw error;
    });
    const failed = isAppError(output);
    await endRun(
      id,
      failed ? failure(output.code, output.message) : { status: "COMPLETED", output },
    );
    return output;
  } finally {
    release();
  }
}

/** A stack is for the log; callers see these. */
function failure(name: string, message: string) {
  return { status: "FAILED", error: { name, message, stackTrace: "" } } as const;
}
