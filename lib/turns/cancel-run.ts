import { type AppError, isAppError } from "../contract/app-error.ts";
import { getRun } from "./get-run.ts";
import { signalAndAwaitEnd } from "./stop-turn.ts";
import { requestRunStop } from "./store/runs.ts";

/** Cancels a run and waits for its end. Errors: 404 `Run not found`. */
export async function cancelRun(
  accountId: string,
  runId: string,
): Promise<{ cancelled: boolean } | AppError> {
  const found = await requestRunStop(accountId, runId);
  if (found.outcome === "active") await signalAndAwaitEnd({ turnId: found.turn_id, runId });
  const run = await getRun(accountId, runId);
  if (isAppError(run)) return run;
  // The stop of a run that has not ended yet is recorded.
  return { cancelled: run.status !== "completed" && run.status !== "failed" };
}
