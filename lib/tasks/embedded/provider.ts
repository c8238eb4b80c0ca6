/** The runs of this service's own runner (run-task.ts), as its database has them. */
import { z } from "zod";
import { call } from "../../db/query.ts";
import { taskRun } from "../task-run.ts";
import { type TaskRunner, taskRunNotFound } from "../task-runner.ts";

/** @throws DatabaseUnavailable from both of its functions. */
export function createEmbeddedRunner(): TaskRunner {
  return {
    name: "embedded",
    async list(accountId, limit) {
      const args = { p_account_id: accountId, p_limit: limit };
      return call("list_task_runs", args, z.array(taskRun));
    },
    async find(accountId, runId) {
      const args = { p_account_id: accountId, p_id: runId };
      return (await call("get_task_run", args, taskRun.nullable())) ?? taskRunNotFound;
    },
  };
}
