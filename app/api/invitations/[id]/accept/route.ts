import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { acceptInvitationContract } from "@/lib/organizations/contract.ts";
import { acceptInvitation } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(acceptInvitationContract, ({ app, caller, params }) =>
    answer(acceptInvitation(app.db, caller.accountId, params.id), (organization) =>
      success({ organization }),
    ),
  ),
});
