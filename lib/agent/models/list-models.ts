import type { App } from "../../app.ts";
import { type AppError, appError } from "../../contract/app-error.ts";
import type { RunOptionChanges } from "../../contract/run-options.ts";
import { faultOfSchema } from "../output/json-schema.ts";
import type { ModelList } from "./contract.ts";
import type { ModelProvider } from "./port.ts";

/** Lists the models to choose from. Errors: 502 when their service does not answer. */
export async function listModels({
  models: provider,
}: Pick<App, "models">): Promise<ModelList | AppError> {
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

/**
 * Checks that a model can be chosen, if one is. Any id is accepted while the list of models cannot be read; an
 * unknown model then fails when it is called. Errors: 400 when `GET /api/models` does not have it.
 */
export async function checkModel(
  { models }: Pick<App, "models">,
  modelId: string | null | undefined,
  field = "modelId",
): Promise<AppError | undefined> {
  if (!modelId || (await isKnownModel(models, modelId))) return undefined;
  return appError("invalid_request", `${field} must be one of the available models`, {
    fields: [field],
  });
}

/** Checks the models that options name, like `checkModel`, and the schemas of an outcome. */
export async function checkOptions(
  { models }: Pick<App, "models">,
  { fallback_models: ids, outcome }: RunOptionChanges,
): Promise<AppError | undefined> {
  if (outcome && outcome.model !== undefined && !(await isKnownModel(models, outcome.model))) {
    return appError("invalid_request", "outcome.model must be one of the available models", {
      fields: ["outcome"],
    });
  }
  for (const check of (outcome || undefined)?.checks ?? []) {
    const fault = check.type === "output_matches" ? faultOfSchema(check.schema) : null;
    if (fault === null) continue;
    return appError("invalid_request", `The schema of a check ${fault}`, { fields: ["outcome"] });
  }
  for (const id of ids || []) {
    if (await isKnownModel(models, id)) continue;
    return appError("invalid_request", "fallback_models must be of the available models", {
      fields: ["fallback_models"],
    });
  }
  return undefined;
}

export async function isKnownModel(provider: ModelProvider, id: string): Promise<boolean> {
  if (id === provider.defaultModelId) return true;
  const models = await provider.list();
  return models === null || models.some((model) => model.id === id);
}
