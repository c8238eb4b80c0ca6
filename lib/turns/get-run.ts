import { type AppError, appError } from "../contract/app-error.ts";
import type { Run } from "./contract.ts";
import { selectRun } from "./headless-store.ts";
import { healDeadTurn } from "./heal-dead-turn.ts";

/**
 * How a run stands. One whose engine knows nothing of it any more is ended first, so that nobody
 * polls for ever. Errors: 404 `Run not found`. Decisions, section 6.
 */
export async function getRun(accountId: string, runId: string): Promise<Run | AppError> {
  const found = await selectRun(accountId, runId);
  const { status } = found?.run ?? {};
  const stale = found && status === "running" && (await healDeadTurn({ ...found, runId }));
  const now = stale ? await selectRun(accountId, runId) : found;
  return now?.run ?? appError("not_found", "Run not found");
}

/** Until a run has ended: ask again in a second. */
export function pollHint({ status }: Run): Record<string, string> {
  return status === "queued" || status === "running" ? { "retry-after": "1" } : {};
}
