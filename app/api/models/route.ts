import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { listModelsContract } from "@/lib/agent/models/contract.ts";
import { listModels } from "@/lib/agent/models/list-models.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listModelsContract, async ({ app }) => {
    const list = await listModels(app);
    return isAppError(list) ? list : { body: list };
  }),
});
