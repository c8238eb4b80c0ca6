import { listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listInvitationsContract } from "@/lib/organizations/contract.ts";
import { selectInvitations } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listInvitationsContract, async ({ app, caller, query }) => {
    const page = await selectInvitations(app.db, caller.accountId, query);
    return listOf("/api/invitations", query, "invitations", page);
  }),
});
