import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/organizations/contract.ts";
import { insertOrganization, selectOrganizations } from "@/lib/organizations/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(contracts.createOrganizationContract, ({ app, caller, body }) =>
    answer(insertOrganization(app.db, caller.accountId, body.name), (organization) =>
      created({ organization }),
    ),
  ),
  GET: endpoint(contracts.listOrganizationsContract, async ({ app, caller, query }) => {
    const page = await selectOrganizations(app.db, caller.accountId, query);
    return listOf("/api/organizations", query, "organizations", page);
  }),
});
