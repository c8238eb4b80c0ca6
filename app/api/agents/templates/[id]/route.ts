import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { checkTemplate } from "@/lib/templates/check-options.ts";
import * as contracts from "@/lib/templates/contract.ts";
import { removeTemplate, selectTemplate, updateTemplate } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getTemplateContract, ({ app: { db }, caller, params }) =>
    answer(selectTemplate(db, caller.accountId, params.id), (template) => success({ template })),
  ),
  PATCH: endpoint(contracts.updateTemplateContract, async ({ app, caller, params, body }) => {
    const fault = await checkTemplate(app, caller.accountId, body);
    const change = () => updateTemplate(app.db, caller.accountId, params.id, body);
    return fault ?? answer(change(), (template) => success({ template }));
  }),
  DELETE: endpoint(contracts.deleteTemplateContract, ({ app, caller, params }) =>
    answer(removeTemplate(app.db, caller.accountId, params.id), done),
  ),
});
