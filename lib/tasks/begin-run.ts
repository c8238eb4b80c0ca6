/** Runs of work that their account finds in `GET /api/tasks/runs`. */
import { randomBytes } from "node:crypto";
import { type AppError, appError } from "../contract/app-error.ts";
import { budgetReached, mediaQuotaExceeded, unpricedModel } from "../contract/quota.ts";
import { insertRun, type JsonObject, type NewRun } from "./store.ts";

export type TaskRequest = Omit<NewRun, "id" | "leaseSeconds" | "metadata"> & {
  readonly metadata?: JsonObject;
};

/** A run with the same effect id that is active or completed. */
export interface EarlierRun {
  readonly runId: string;
  /** Null while the run is active. */
  readonly output: unknown;
}

/**
 * Inserts an active run, which becomes CRASHED when nobody renews its lease. At most one run with a given
 * effect id is active or completed, across all processes: others get that run. Errors: 429 when the
 * account has too many active runs, 403 when it has no room for media. @throws DatabaseUnavailable
 */
export async function beginRun(
  request: TaskRequest,
  leaseSeconds: number,
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

/** The stack trace is left empty, because callers can read the run; the log has it. */
export function failureOf({ code, message }: Pick<AppError, "code" | "message">) {
  return { status: "FAILED", error: { name: code, message, stackTrace: "" } } as const;
}
