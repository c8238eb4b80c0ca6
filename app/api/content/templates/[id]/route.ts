import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { getContentTemplateContract } from "@/lib/content/contract.ts";
import { selectContentTemplate } from "@/lib/content/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getContentTemplateContract, ({ app, params }) =>
    answer(selectContentTemplate(app.db, params.id), (template) => ({ body: template })),
  ),
});
