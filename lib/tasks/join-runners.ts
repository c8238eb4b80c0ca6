import { type AppError, isAppError } from "../contract/app-error.ts";
import type { TaskRunner } from "./port.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * The runs of two runners as those of one: content is always made in this service's own runner
 * (embedded/run-task.ts), and its account finds it there, whichever service runs the other tasks.
 * A list needs both, because one that silently lacks half of its runs would be wrong; a run that
 * is found here is shown without asking there. Errors: those of `remote`.
 */
export function joinRunners(remote: TaskRunner, own: TaskRunner): TaskRunner {
  return {
    name: remote.name,
    listQuery: own.listQuery,
    async list(accountId, limit, log, read): Promise<TaskRun[] | AppError> {
      const [ours, theirs] = await Promise.all([
        own.list(accountId, limit, log, read),
        remote.list(accountId, limit, log, read),
      ]);
      if (isAppError(ours)) return ours;
      if (isAppError(theirs)) return theirs;
      return [...ours, ...theirs].sort(newestFirst).slice(0, limit);
    },
    async find(accountId, runId, log) {
      const run = await own.find(accountId, runId, log);
      const isElsewhere = isAppError(run) && run.code === "not_found";
      return isElsewhere ? remote.find(accountId, runId, log) : run;
    },
  };
}

/** By time and not by text: two runners need not write the same precision. */
const newestFirst = (one: TaskRun, other: TaskRun): number =>
  Date.parse(other.createdAt) - Date.parse(one.createdAt);
