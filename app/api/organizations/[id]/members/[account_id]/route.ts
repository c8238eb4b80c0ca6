import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { removeMemberContract, updateMemberContract } from "@/lib/organizations/contract.ts";
import { removeMember, updateMember } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PATCH: endpoint(updateMemberContract, ({ app, caller, params, body }) =>
    answer(
      updateMember(app.db, caller.accountId, params.id, params.account_id, body),
      (member) => ({
        body: { status: "success", member },
      }),
    ),
  ),
  DELETE: endpoint(removeMemberContract, ({ app, caller, params }) =>
    answer(removeMember(app.db, caller.accountId, params.id, params.account_id), done),
  ),
});
