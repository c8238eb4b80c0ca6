import { created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { turnIdOf } from "@/lib/identity/credentials/caller.ts";
import { checkTemplate } from "@/lib/templates/check-options.ts";
import { createTemplateContract, listTemplatesContract } from "@/lib/templates/contract.ts";
import { insertTemplate, selectTemplates } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTemplateContract, async ({ app, caller, effectId, body }) => {
    const { accountId } = caller;
    const fault = await checkTemplate(app, accountId, body);
    const insert = () => insertTemplate(app.db, accountId, effectId, body, turnIdOf(caller));
    return fault ?? created({ template: await insert() });
  }),
  GET: endpoint(listTemplatesContract, async ({ app, caller, query }) => {
    const page = selectTemplates(app.db, caller.accountId, query);
    return listOf("/api/agents/templates", query, "templates", await page);
  }),
});
