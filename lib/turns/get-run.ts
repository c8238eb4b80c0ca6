import { type AppError, appError } from "../contract/app-error.ts";
import type { Run } from "./contract.ts";
import { reapDeadTurn } from "./end-turn.ts";
import type { EndParts } from "./finish-stream.ts";
import type { StartedRun } from "./start-run.ts";
import { selectRun } from "./store/runs.ts";

/** Returns the status of a run. Errors: 404 `Run not found`. */
export async function getRun(
  app: EndParts,
  accountId: string,
  runId: string,
): Promise<Run | AppError> {
  const found = await findRun(app, accountId, runId);
  return found?.run ?? appError("not_found", "Run not found");
}

/**
 * Returns a run of the account, or null. A run that the engine no longer knows is ended first, because
 * its callers would wait forever.
 */
export async function findRun(app: EndParts, accountId: string, runId: string) {
  const found = await selectRun(accountId, runId);
  const { status } = found?.run ?? {};
  const wasReaped = found && status === "running" && (await reapDeadTurn(app, { ...found, runId }));
  return wasReaped ? selectRun(accountId, runId) : found;
}

/** Returns the response to a run that has started: the URL to poll for its end, and the time of the first poll. */
export const startedAnswer = (body: StartedRun) => ({
  status: 202 as const,
  body,
  headers: { location: `/api/chat/runs/${body.runId}`, "retry-after": "1" },
});

/** Returns the headers that ask a client to poll again in a second, until the run has ended. */
export function pollHint({ status }: Run): Record<string, string> {
  return status === "queued" || status === "running" ? { "retry-after": "1" } : {};
}
