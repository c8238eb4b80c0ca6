/**
 * Runs work in this process as a task run, which its account finds in `GET /api/tasks/runs` even
 * after the request that started it has ended.
 *
 *     const started = await runTask(
 *       {
 *         ...{ accountId, effectId, idempotencyKey, maxActiveRuns: 20, mediaLimitBytes },
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
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { budgetReached, mediaQuotaExceeded, unpricedModel } from "../contract/quota.ts";
import { log } from "../platform/log.ts";
import { holdLease, LEASE_SECONDS } from "./hold-lease.ts";
import { endRun, insertRun, type JsonObject, mergeMetadata, type NewRun } from "./store.ts";

export type TaskRequest = Omit<NewRun, "id" | "leaseSeconds" | "metadata"> & {
  readonly metadata?: JsonObject;
};

export interface RunningTask {
  readonly id: string;
  /** Merges into the metadata of the run. @throws DatabaseUnavailable */
  progress(metadata: JsonObject): Promise<void>;
}

export interface StartedTask<T> {
  readonly runId: string;
  /**
   * Resolves to the result of the work, after the run has recorded it. It need not be awaited: the run
   * continues without it. Rejects with the error of the work, or with DatabaseUnavailable.
   */
  readonly result: Promise<T | AppError>;
}

/** A run with the same effect id that is active or completed. */
export interface EarlierRun {
  readonly runId: string;
  /** Null while the run is active. */
  readonly output: unknown;
}

/**
 * Starts a run, then the work. The run becomes COMPLETED with the result of the work as its output,
 * FAILED with the message of an AppError that the work returns, FAILED with a generic message when the
 * work throws, and CRASHED when this process dies first.
 *
 * At most one run with a given effect id is active or completed, across all processes. Other callers
 * get that run, and their work does not start. A failed or crashed run frees the effect id.
 *
 * Errors: 429 when the account has too many active runs, 403 when it has no room for media.
 * @throws DatabaseUnavailable if the run could not be created; the work did not start
 */
export async function runTask<T extends object>(
  request: TaskRequest,
  work: (run: RunningTask) => Promise<T | AppError>,
): Promise<StartedTask<T> | EarlierRun | AppError> {
  const begun = await beginRun(request);
  if (isAppError(begun) || "output" in begun) return begun;
  const { runId } = begun;
  const result = execute(runId, work);
  // The result may never be awaited: its rejection is recorded in the run and must not end the
  // process.
  result.catch((error: unknown) => log().error({ err: error, runId }, "A task run failed"));
  return { runId, result };
}

/**
 * Inserts an active run, which becomes CRASHED when its lease is not renewed. Errors: 429 when the
 * account has too many active runs, 403 when it has no room for media. @throws DatabaseUnavailable
 */
export async function beginRun(
  request: TaskRequest,
  leaseSeconds = LEASE_SECONDS,
): Promise<{ readonly runId: string } | EarlierRun | AppError> {
  const id = `run_${randomBytes(12).toString("hex")}`;
  const inserted = await insertRun({ metadata: {}, ...request, id, leaseSeconds });
  if (inserted.outcome === "busy") return tooManyRuns;
  if (inserted.outcome === "full") return mediaQuotaExceeded;
  if (inserted.outcome === "over_budget") return budgetReached;
  if (inserted.outcome === "unpriced_model") return unpricedModel;
  if (inserted.outcome === "earlier") return { runId: inserted.run_id, output: inserted.output };
  return { runId: id };
}

const tooManyRuns = appError("too_many_generations", "Too many requests", {
  headers: { "retry-after": "5" },
});

async function execute<T extends object>(
  id: string,
  work: (run: RunningTask) => Promise<T | AppError>,
): Promise<T | AppError> {
  const release = holdLease(id);
  const run: RunningTask = { id, progress: (metadata) => mergeMetadata(id, metadata) };
  try {
    const output = await work(run).catch(async (error: unknown) => {
      await endRun(id, failureOf({ code: "internal", message: "Internal server error" }));
      throw error;
    });
    const completed = { status: "COMPLETED", output } as const;
    await endRun(id, isAppError(output) ? failureOf(output) : completed);
    return output;
  } finally {
    release();
  }
}

/** The stack trace is left empty, because callers can read the run; the log has it. */
export function failureOf({ code, message }: Pick<AppError, "code" | "message">) {
  return { status: "FAILED", error: { name: code, message, stackTrace: "" } } as const;
}
