import { linkHeader } from "@/lib/contract/pagination.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createTemplateContract, listTemplatesContract } from "@/lib/templates/contract.ts";
import { insertTemplate, templatesQuery } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createTemplateContract, async ({ caller, effectId, body }) => ({
    status: 201,
    body: { status: "success", template: await insertTemplate(caller.accountId, effectId, body) },
  })),

  GET: endpoint(listTemplatesContract, {
    prefetch: ({ query }) => templatesQuery(query),
    async handle({ query, read }) {
      const { templates, nextCursor } = await read(templatesQuery(query));
      const headers = linkHeader("/api/agents/templates", query.limit, nextCursor);
      return { body: { status: "success", templates, next_cursor: nextCursor }, headers };
    },
  }),
});
