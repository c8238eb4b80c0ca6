/** The runs of this service's own runner (run-task.ts), as its database has them. */
import { z } from "zod";
import type { AccountQuery } from "../../../platform/database/account-query.ts";
import { call } from "../../../platform/database/query.ts";
import { type TaskRunner, taskRunNotFound } from "../../port.ts";
import { type TaskRun, taskRun } from "../../task-run.ts";

const listQuery = (limit: number): AccountQuery<TaskRun[]> => ({
  name: "list_task_runs",
  args: { p_limit: limit },
  takesAccount: true,
  schema: z.array(taskRun),
});

/** @throws DatabaseUnavailable from both of its functions. */
export function createEmbeddedRunner(): TaskRunner {
  return {
    name: "embedded",
    listQuery,
    list: (_accountId, limit, _log, read) => read(listQuery(limit)),
    async find(accountId, runId) {
      const args = { p_account_id: accountId, p_id: runId };
      return (await call("get_task_run", args, taskRun.nullable())) ?? taskRunNotFound;
    },
  };
}
