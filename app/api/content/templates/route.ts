import { methods } from "@platform/endpoint/methods";
import { listContentTemplatesContract } from "@/lib/content/contract.ts";
import { selectContentTemplates } from "@/lib/content/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listContentTemplatesContract, async ({ app }) => ({
    body: { status: "success", templates: await selectContentTemplates(app.db) },
  })),
});
