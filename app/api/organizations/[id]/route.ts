import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import * as store from "@/lib/organizations/store.ts";

const describe = (organization: Organization) => success({ organization });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getOrganizationContract, ({ app, caller, params }) =>
    answer(store.selectOrganization(app.db, caller.accountId, params.id), describe),
  ),
  PATCH: endpoint(contracts.updateOrganizationContract, ({ app, caller, params, body }) =>
    answer(store.updateOrganization(app.db, caller.accountId, params.id, body), describe),
  ),
  DELETE: endpoint(contracts.deleteOrganizationContract, ({ app, caller, params }) =>
    answer(store.removeOrganization(app.db, caller.accountId, params.id), done),
  ),
});
