import { createOpenAiCompatibleModels } from "../src/models/adapters/openai-compatible.ts";
import type { ModelPrice } from "../src/models/model-price.ts";
import { offerModels } from "../src/models/offer-models.ts";

/** Returns the models of an OpenAI-compatible server, as a service offers them by default. */
export const modelsAt = (
  baseUrl: string,
  MODEL_PRICES: Readonly<Record<string, ModelPrice>> = {},
) =>
  offerModels(createOpenAiCompatibleModels({ baseUrl, apiKey: undefined, offersAuto: true }), {
    MODELS: [],
    MODEL_PRICES,
  });
