import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { withdrawInvitationContract } from "@/lib/organizations/contract.ts";
import { withdrawInvitation } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(withdrawInvitationContract, ({ app, caller, params }) =>
    answer(withdrawInvitation(app.db, caller.accountId, params.id, params.invitation_id), done),
  ),
});
