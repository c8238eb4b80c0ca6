import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { restoreTemplateContract } from "@/lib/templates/contract.ts";
import { restoreTemplate } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(restoreTemplateContract, ({ app, caller, params, body }) =>
    answer(restoreTemplate(app.db, caller.accountId, params.id, body.version), (template) =>
      success({ template }),
    ),
  ),
});
