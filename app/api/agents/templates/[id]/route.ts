import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import {
  deleteTemplateContract,
  getTemplateContract,
  updateTemplateContract,
} from "@/lib/templates/contract.ts";
import { removeTemplate, selectTemplate, updateTemplate } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getTemplateContract, async ({ caller, params }) => {
    const template = await selectTemplate(caller.accountId, params.id);
    return isAppError(template) ? template : { body: { status: "success", template } };
  }),

  PATCH: endpoint(updateTemplateContract, async ({ caller, params, body }) => {
    const template = await updateTemplate(caller.accountId, params.id, body);
    return isAppError(template) ? template : { body: { status: "success", template } };
  }),

  DELETE: endpoint(deleteTemplateContract, async ({ caller, params }) => {
    const refused = await removeTemplate(caller.accountId, params.id);
    return refused ?? { body: { status: "success" } };
  }),
});
