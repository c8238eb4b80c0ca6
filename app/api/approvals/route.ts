import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { listApprovalsContract } from "@/lib/approvals/contract.ts";
import { selectApprovals } from "@/lib/approvals/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listApprovalsContract, async ({ app, caller, query }) => {
    const page = await selectApprovals(app.db, caller.accountId, query);
    return listOf("/api/approvals", query, "approvals", page);
  }),
});
