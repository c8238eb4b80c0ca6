/** Reads the runs that this service executes itself (lib/tasks/run-task.ts) from its database. */
import { type TaskRunner, taskRunNotFound } from "../port.ts";
import { runsQuery, selectRun } from "../store.ts";

/** @throws DatabaseUnavailable from `list` and `find` */
export function createEmbeddedTaskRunner(): TaskRunner {
  return {
    name: "embedded",
    listQuery: runsQuery,
    list: (_accountId, limit, _log, read) => read(runsQuery(limit)),
    find: async (accountId, runId) => (await selectRun(accountId, runId)) ?? taskRunNotFound,
  };
}
