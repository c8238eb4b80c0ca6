import { type AppError, appError } from "../../contract/app-error.ts";
import { defaultModelId } from "./default-model.ts";
import { availableModels, type ModelInfo } from "./resolve.ts";

interface ModelList {
  readonly status: "success";
  readonly default: string;
  readonly models: readonly ModelInfo[];
}

/** Errors: 502 when the list has to come from a service that does not answer. */
export async function listModels(): Promise<ModelList | AppError> {
  const models = await availableModels();
  if (models === null) return appError("upstream_error", "Model provider unavailable");
  return { status: "success", default: defaultModelId(), models };
}
