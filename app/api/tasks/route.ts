import { answer, pageOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createTaskContract, listTasksContract } from "@/lib/schedules/contract.ts";
import { createTask } from "@/lib/schedules/create-task.ts";
import { selectTasks } from "@/lib/schedules/store.ts";
import { createdTask } from "@/lib/schedules/task.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTaskContract, ({ caller, effectId, body }) =>
    answer(createTask(caller.accountId, effectId, body), createdTask),
  ),
  GET: endpoint(listTasksContract, ({ caller, query }) =>
    answer(selectTasks(caller.accountId, query), ({ tasks, nextCursor }) =>
      pageOf("/api/tasks", query, nextCursor, { status: "success", tasks }),
    ),
  ),
});
