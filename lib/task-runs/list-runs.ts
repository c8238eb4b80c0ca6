import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import { listQuery, type listTaskRunsContract } from "./contract.ts";
import { RUN_ID, taskRunNotFound } from "./port.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * Returns the runs of an account, newest first, or the one run that `runId` names.
 *
 * Errors: 404 `Task run not found`, 502 `Task runner unavailable`, 504.
 */
export async function listRuns(
  { taskRunner }: Parts<"taskRunner">,
  accountId: string,
  query: z.output<typeof listTaskRunsContract.query>,
  log: Logger,
): Promise<TaskRun[] | AppError> {
  const { runId, artist_id: artistId } = query;
  if (runId === undefined) {
    const { limit } = listQuery.parse(query);
    return taskRunner.list({ accountId, limit, artistId }, log);
  }
  if (!RUN_ID.test(runId)) return taskRunNotFound;
  const run = await taskRunner.find(accountId, runId, log);
  return isAppError(run) ? run : [run];
}
