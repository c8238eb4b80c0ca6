import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { deleteTask, updateTask } from "@/lib/tasks/change-task.ts";
import * as contracts from "@/lib/tasks/contract.ts";
import { selectTask } from "@/lib/tasks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getTaskContract, ({ app, caller, params }) =>
    answer(selectTask(app.db, caller.accountId, params.id), (task) => success({ task })),
  ),
  PATCH: endpoint(contracts.updateTaskContract, ({ app, caller, params, body }) =>
    answer(updateTask(app, caller.accountId, params.id, body), (task) => success({ task })),
  ),
  DELETE: endpoint(contracts.deleteTaskContract, ({ app, caller, params, log }) =>
    answer(deleteTask(app, caller.accountId, params.id, log), done),
  ),
});
