import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import type { AccountQuery, Reader } from "../platform/database/account-query.ts";
import { services } from "../platform/services.ts";
import { listQuery } from "./contract.ts";
import { RUN_ID, taskRunNotFound } from "./port.ts";
import type { TaskRun } from "./task-run.ts";

type Query = Pick<Parameters<typeof listRuns>[0], "runId" | "limit" | "artist_id">;

/** Returns the database query of `listRuns`; null when it asks only a service, for one run or by artist. */
export function listRunsQuery(query: Query): AccountQuery<TaskRun[]> | null {
  const { runId, limit, artist_id } = query;
  return runId === undefined && artist_id === undefined
    ? services().tasks.listQuery(listQuery.parse({ limit }).limit)
    : null;
}

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
  readonly read: Reader;
}): Promise<TaskRun[] | AppError> {
  const { accountId, runId, log, read } = input;
  if (runId === undefined) {
    const { limit } = listQuery.parse(input);
    return services().tasks.list({ accountId, limit, artistId: input.artist_id }, log, read);
  }
  if (!RUN_ID.test(runId)) return taskRunNotFound;
  const run = await services().tasks.find(accountId, runId, log);
  return isAppError(run) ? run : [run];
}
