import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createTask } from "@/lib/tasks/change-task.ts";
import { createTaskContract, listTasksContract } from "@/lib/tasks/contract.ts";
import { selectTasks } from "@/lib/tasks/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTaskContract, ({ app, caller, effectId, body }) =>
    answer(createTask(app, caller.accountId, effectId, body), (task) => created({ task })),
  ),
  GET: endpoint(listTasksContract, async ({ app, caller, query }) => {
    const page = await selectTasks(app.db, caller.accountId, query);
    return listOf("/api/tasks", query, "tasks", page);
  }),
});
