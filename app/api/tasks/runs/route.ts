import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
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
