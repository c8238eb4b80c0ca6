/** Reads the runs that this service executes itself from its database. */
import { type TaskRunner, taskRunNotFound } from "../port.ts";
import { selectRun, selectRuns } from "../store.ts";

/** @throws DatabaseUnavailable from `list` and `find` */
export function createEmbeddedTaskRunner(): TaskRunner {
  return {
    name: "embedded",
    list: selectRuns,
    find: async (accountId, runId) => (await selectRun(accountId, runId)) ?? taskRunNotFound,
  };
}
