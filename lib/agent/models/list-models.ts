import { type AppError, appError } from "../../contract/app-error.ts";
import { services } from "../../platform/services.ts";
import type { ModelInfo } from "./port.ts";

interface ModelList {
  readonly status: "success";
  readonly default: string;
  readonly models: readonly ModelInfo[];
}

/** Lists the models to choose from. Errors: 502 when their service does not answer. */
export async function listModels(): Promise<ModelList | AppError> {
  const provider = services().models;
  const models = await provider.list();
  if (models === null) return appError("upstream_error", "Model provider unavailable");
  return { status: "success", default: provider.defaultModelId, models };
}
