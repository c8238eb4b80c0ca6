import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listApprovalsContract } from "@/lib/turns/approvals-contract.ts";
import { selectApprovals } from "@/lib/turns/store/approvals.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listApprovalsContract, async ({ caller, query }) => {
    const page = await selectApprovals(caller.accountId, query);
    return listOf("/api/approvals", query, "approvals", page);
  }),
});
