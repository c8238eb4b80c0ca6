import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { declineInvitationContract } from "@/lib/organizations/contract.ts";
import { declineInvitation } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(declineInvitationContract, ({ app, caller, params }) =>
    answer(declineInvitation(app.db, caller.accountId, params.id), done),
  ),
});
