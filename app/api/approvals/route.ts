import { listApprovalsContract } from "@/lib/approvals/contract.ts";
import { selectApprovals } from "@/lib/approvals/store.ts";
import { listOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listApprovalsContract, async ({ caller, query }) => {
    const page = await selectApprovals(caller.accountId, query);
    return listOf("/api/approvals", query, "approvals", page);
  }),
});
