import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listModelsContract } from "@/lib/models/contract.ts";
import { listModels } from "@/lib/models/list-models.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listModelsContract, async ({ app }) => {
    const list = await listModels(app);
    return isAppError(list) ? list : { body: list };
  }),
});
