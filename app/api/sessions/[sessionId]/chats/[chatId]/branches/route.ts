import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { selectBranches } from "@/lib/sessions/branches.ts";
import { listBranchesContract } from "@/lib/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listBranchesContract, ({ app, caller: { accountId }, params }) =>
    answer(selectBranches(app.db, { accountId, ...params }), (body) => ({
      body: { status: "success", ...body },
    })),
  ),
});
