import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listMembersContract } from "@/lib/organizations/contract.ts";
import { selectMembers } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listMembersContract, ({ app, caller, params, query }) =>
    answer(selectMembers(app.db, caller.accountId, params.id, query), (page) =>
      listOf(`/api/organizations/${params.id}/members`, query, "members", page),
    ),
  ),
});
