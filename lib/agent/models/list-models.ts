import { type AppError, appError } from "../../contract/app-error.ts";
import { services } from "../../platform/services.ts";
import type { ModelList } from "./contract.ts";

/** Lists the models to choose from. Errors: 502 when their service does not answer. */
export async function listModels(): Promise<ModelList | AppError> {
  const provider = services().models;
  const models = await provider.list();
  if (models === null) return appError("upstream_error", "Model provider unavailable");
  const described = models.map(async ({ contextWindow, ...model }) => {
    const price = await provider.price(model.id);
    const { input, output } = price ?? {};
    const pricing = input === undefined || output === undefined ? null : { input, output };
    return { ...model, context_window: contextWindow, pricing };
  });
  return {
    status: "success",
    default: provider.defaultModelId,
    models: await Promise.all(described),
  };
}
