import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { getUsageContract } from "@/lib/usage/contract.ts";
import { selectUsage } from "@/lib/usage/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getUsageContract, async ({ app, caller, query }) => ({
    body: { status: "success", ...(await selectUsage(app.db, caller.accountId, query)) },
  })),
});
