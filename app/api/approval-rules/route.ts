import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listApprovalRulesContract } from "@/lib/turns/approvals-contract.ts";
import { selectApprovalRules } from "@/lib/turns/store/approvals.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listApprovalRulesContract, async ({ caller, query }) => {
    const page = await selectApprovalRules(caller.accountId, query);
    return listOf("/api/approval-rules", query, "rules", page);
  }),
});
