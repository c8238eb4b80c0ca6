/** The runs of this service's own runner (run-task.ts), as its database has them. */
import { z } from "zod";
import { type AccountRead, call, readFor } from "../../../platform/database/query.ts";
import { type TaskRunner, taskRunNotFound } from "../../port.ts";
import { taskRun } from "../../task-run.ts";

const listRead = (limit: number): AccountRead => ({
  name: "list_task_runs",
  args: { p_limit: limit },
});

/** @throws DatabaseUnavailable from both of its functions. */
export function createEmbeddedRunner(): TaskRunner {
  return {
    name: "embedded",
    listRead,
    list: (accountId, limit, _log, found) =>
      readFor(accountId, listRead(limit), z.array(taskRun), found),
    async find(accountId, runId) {
      const args = { p_account_id: accountId, p_id: runId };
      return (await call("get_task_run", args, taskRun.nullable())) ?? taskRunNotFound;
    },
  };
}
