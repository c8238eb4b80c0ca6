import { getContentTemplateContract } from "@/lib/content/contract.ts";
import { selectContentTemplate } from "@/lib/content/store.ts";
import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getContentTemplateContract, async ({ params }) => {
    const template = await selectContentTemplate(params.id);
    return isAppError(template) ? template : { body: template };
  }),
});
