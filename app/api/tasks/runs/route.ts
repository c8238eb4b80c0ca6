import { isAppError } from "@/lib/contract/app-error.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import { listRuns, listRunsRead } from "@/lib/tasks/list-runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(
    listTaskRunsContract,
    async ({ caller, query, read, log }) => {
      const { runId, limit } = query;
      const runs = await listRuns({ accountId: caller.accountId, runId, limit, found: read, log });
      return isAppError(runs) ? runs : { body: { status: "success", runs } };
    },
    ({ query }) => listRunsRead(query),
  ),
});
