import { done } from "@platform/endpoint/answers";
import { appError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { deleteApprovalRuleContract } from "@/lib/approvals/contract.ts";
import { deleteApprovalRule } from "@/lib/approvals/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteApprovalRuleContract, async ({ app, caller, params }) =>
    (await deleteApprovalRule(app.db, caller.accountId, params.id))
      ? done()
      : appError("not_found", "Remembered approval not found"),
  ),
});
