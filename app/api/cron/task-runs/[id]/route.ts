import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { checkCronSecret } from "@/lib/tasks/check-cron-secret.ts";
import { driveTaskRunContract } from "@/lib/tasks/contract.ts";
import { startTaskRun } from "@/lib/tasks/start-task-run.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(driveTaskRunContract, async ({ app, request, params }) => {
    const refusal = checkCronSecret(request.headers.get("authorization"));
    if (refusal) return refusal;
    const run = await startTaskRun(app, params.id);
    return isAppError(run) ? run : { body: { status: "success", task_run: run } };
  }),
});
