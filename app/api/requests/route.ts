import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listRequestsContract } from "@/lib/requests/contract.ts";
import { selectRequests } from "@/lib/requests/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRequestsContract, async ({ app, caller, query }) => {
    const page = await selectRequests(app.db, caller.accountId, query);
    return listOf("/api/requests", query, "requests", page);
  }),
});
