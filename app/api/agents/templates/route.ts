import { linkHeader } from "@/lib/contract/pagination.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createTemplateContract, listTemplatesContract } from "@/lib/templates/contract.ts";
import { insertTemplate, selectTemplates, templatesRead } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(createTemplateContract, async ({ caller, effectId, body }) => ({
    status: 201,
    body: { status: "success", template: await insertTemplate(caller.accountId, effectId, body) },
  })),

  GET: route(
    listTemplatesContract,
    async ({ caller, query, read }) => {
      const { templates, nextCursor } = await selectTemplates(caller.accountId, query, read);
      return {
        body: { status: "success", templates, next_cursor: nextCursor },
        headers: linkHeader("/api/agents/templates", query.limit, nextCursor),
      };
    },
    ({ query }) => templatesRead(query),
  ),
});
