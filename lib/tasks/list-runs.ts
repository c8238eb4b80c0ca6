import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { listQuery } from "./contract.ts";
import { RUN_ID, taskRunNotFound } from "./port.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * Returns the runs of an account, newest first, or the one run that `runId` names.
 *
 * Errors: 404 `Task run not found`, 502 `Task runner unavailable`, 504.
 */
export async function listRuns(input: {
  readonly accountId: string;
  readonly runId?: string | undefined;
  readonly limit?: string | undefined;
  readonly artist_id?: string | undefined;
  readonly log: Logger;
}): Promise<TaskRun[] | AppError> {
  const { accountId, runId, log } = input;
  if (runId === undefined) {
    const { limit } = listQuery.parse(input);
    return services().tasks.list({ accountId, limit, artistId: input.artist_id }, log);
  }
  if (!RUN_ID.test(runId)) return taskRunNotFound;
  const run = await services().tasks.find(accountId, runId, log);
  return isAppError(run) ? run : [run];
}
