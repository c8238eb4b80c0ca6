import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listTaskRunsContract } from "@/lib/task-runs/contract.ts";
import { listRuns } from "@/lib/task-runs/list-runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTaskRunsContract, async ({ app, caller, query, log }) => {
    const runs = await listRuns(app, caller.accountId, query, log);
    return isAppError(runs) ? runs : { body: { status: "success", runs } };
  }),
});
