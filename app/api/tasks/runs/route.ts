import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import { listRuns, listRunsQuery } from "@/lib/tasks/list-runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTaskRunsContract, {
    prefetch: ({ query }) => listRunsQuery(query),
    async handle({ caller, query, read, log }) {
      const runs = await listRuns({ accountId: caller.accountId, ...query, read, log });
      return isAppError(runs) ? runs : { body: { status: "success", runs } };
    },
  }),
});
