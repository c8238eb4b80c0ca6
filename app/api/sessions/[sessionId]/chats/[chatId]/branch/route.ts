import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { chooseBranch } from "@/lib/sessions/branches.ts";
import { chooseBranchContract } from "@/lib/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(chooseBranchContract, ({ app, caller: { accountId }, params, body }) =>
    answer(chooseBranch(app.db, { accountId, ...params }, body.message_id), (shown) => ({
      body: { status: "success", ...shown },
    })),
  ),
});
