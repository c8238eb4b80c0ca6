/** Reads the runs that this service executes itself from its database. */
import type { Database } from "../../platform/database/port.ts";
import { type TaskRunner, taskRunNotFound } from "../port.ts";
import { selectRun, selectRuns } from "../store.ts";

/** @throws DatabaseUnavailable from `list` and `find` */
export function createEmbeddedTaskRunner(db: Database): TaskRunner {
  return {
    name: "embedded",
    list: (page) => selectRuns(db, page),
    find: async (accountId, runId) => (await selectRun(db, accountId, runId)) ?? taskRunNotFound,
  };
}
