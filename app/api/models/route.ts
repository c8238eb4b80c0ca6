import { listModelsContract } from "@/lib/agent/models/contract.ts";
import { listModels } from "@/lib/agent/models/list-models.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { isAppError } from "@/packages/endpoint/src/contract/app-error.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listModelsContract, async ({ app }) => {
    const list = await listModels(app);
    return isAppError(list) ? list : { body: list };
  }),
});
