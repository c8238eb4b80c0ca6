import { created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { turnIdOf } from "@/lib/identity/credentials/caller.ts";
import { checkTemplate } from "@/lib/templates/check-options.ts";
import { createTemplateContract, listTemplatesContract } from "@/lib/templates/contract.ts";
import { insertTemplate, selectTemplates } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTemplateContract, async ({ app, caller, effectId, body }) => {
    const fault = await checkTemplate(app, caller.accountId, body);
    if (fault) return fault;
    const template = await insertTemplate(caller.accountId, effectId, body, turnIdOf(caller));
    return created({ template });
  }),
  GET: endpoint(listTemplatesContract, async ({ caller, query }) => {
    const page = await selectTemplates(caller.accountId, query);
    return listOf("/api/agents/templates", query, "templates", page);
  }),
});
