import { isAppError } from "@platform/endpoint/contract/app-error";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listModelsContract } from "@/lib/models/contract.ts";
import { listModels } from "@/lib/models/list-models.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listModelsContract, async ({ app }) => {
    const list = await listModels(app);
    return isAppError(list) ? list : { body: list };
  }),
});
