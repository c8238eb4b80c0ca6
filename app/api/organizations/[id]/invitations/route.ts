import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/organizations/contract.ts";
import { inviteMember } from "@/lib/organizations/invite-member.ts";
import { selectSentInvitations } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(contracts.createInvitationContract, ({ app, caller, params, body, log }) =>
    answer(inviteMember(app, caller.accountId, params.id, body, log), (invitation) =>
      created({ invitation }),
    ),
  ),
  GET: endpoint(contracts.listSentInvitationsContract, ({ app, caller, params, query }) =>
    answer(selectSentInvitations(app.db, caller.accountId, params.id, query), (page) =>
      listOf(`/api/organizations/${params.id}/invitations`, query, "invitations", page),
    ),
  ),
});
