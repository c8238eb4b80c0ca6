import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { checkCronSecret } from "@/lib/tasks/check-cron-secret.ts";
import { fireTasksContract } from "@/lib/tasks/contract.ts";
import { fireDueTasks } from "@/lib/tasks/fire-tasks.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(fireTasksContract, async ({ app, request }) => {
    const refusal = checkCronSecret(request.headers.get("authorization"));
    if (refusal) return refusal;
    app.mailWorker.wake(app);
    app.memoryWorker.wake(app);
    return { body: { status: "success", ...(await fireDueTasks(app)) } };
  }),
});
