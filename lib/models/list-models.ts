import type { ModelInput, ModelProvider } from "@platform/agent/models/port";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { ModelList } from "./contract.ts";

/** Lists the models to choose from. Errors: 502 when their service does not answer. */
export async function listModels({
  models: provider,
}: Readonly<Record<"models", ModelProvider>>): Promise<ModelList | AppError> {
  const models = await provider.list();
  if (models === null) return appError("upstream_error", "Model provider unavailable");
  const described = models.map(async ({ contextWindow, inputs: _, ...model }) => {
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
  { models }: Readonly<Record<"models", ModelProvider>>,
  modelId: string | null | undefined,
  field = "modelId",
): Promise<AppError | undefined> {
  if (!modelId || (await isKnownModel(models, modelId))) return undefined;
  return appError("invalid_request", `${field} must be one of the available models`, {
    fields: [field],
  });
}

export async function isKnownModel(provider: ModelProvider, id: string): Promise<boolean> {
  if (id === provider.defaultModelId) return true;
  const models = await provider.list();
  return models === null || models.some((model) => model.id === id);
}

/** Returns whether each of the models reads this kind of input, as far as their service says so. */
export async function acceptsInput(
  provider: Pick<ModelProvider, "list">,
  ids: readonly string[],
  input: ModelInput,
): Promise<boolean> {
  const models = (await provider.list()) ?? [];
  return ids.every((id) => models.find((model) => model.id === id)?.inputs.includes(input));
}
