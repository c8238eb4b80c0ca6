import { done } from "@platform/endpoint/answers";
import { appError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { deleteApprovalRuleContract } from "@/lib/turns/approvals-contract.ts";
import { deleteApprovalRule } from "@/lib/turns/store/approvals.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteApprovalRuleContract, async ({ caller, params }) =>
    (await deleteApprovalRule(caller.accountId, params.id))
      ? done()
      : appError("not_found", "Remembered approval not found"),
  ),
});
