import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { listApprovalRulesContract } from "@/lib/approvals/contract.ts";
import { selectApprovalRules } from "@/lib/approvals/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listApprovalRulesContract, async ({ app, caller, query }) => {
    const page = await selectApprovalRules(app.db, caller.accountId, query);
    return listOf("/api/approval-rules", query, "rules", page);
  }),
});
