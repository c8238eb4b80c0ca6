import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { TaskRunner } from "../port.ts";
import type { TaskRun } from "../task-run.ts";

/**
 * Presents the runs of two task runners as those of one. This service always executes content
 * generations itself (lib/tasks/run-task.ts), even when another service runs all other tasks.
 * A list needs both runners, because a list that silently lacks half of the runs would be wrong; a
 * run that is found in `own` is returned without asking `remote`. Errors: those of `remote`.
 */
export function createJoinedTaskRunner(remote: TaskRunner, own: TaskRunner): TaskRunner {
  return {
    name: remote.name,
    listQuery: own.listQuery,
    ...(remote.check && { check: remote.check }),
    async list(accountId, limit, log, read): Promise<TaskRun[] | AppError> {
      const [ownRuns, remoteRuns] = await Promise.all([
        own.list(accountId, limit, log, read),
        remote.list(accountId, limit, log, read),
      ]);
      if (isAppError(ownRuns)) return ownRuns;
      if (isAppError(remoteRuns)) return remoteRuns;
      return [...ownRuns, ...remoteRuns].sort(newestFirst).slice(0, limit);
    },
    async find(accountId, runId, log) {
      const run = await own.find(accountId, runId, log);
      const isMissing = isAppError(run) && run.code === "not_found";
      return isMissing ? remote.find(accountId, runId, log) : run;
    },
  };
}

/** Compares instants rather than text, because two runners may write different precisions. */
const newestFirst = (one: TaskRun, other: TaskRun): number =>
  Date.parse(other.createdAt) - Date.parse(one.createdAt);
