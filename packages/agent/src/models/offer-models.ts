import type { Probe } from "@platform/kit/outbound/probe";
import { acceptPrompts } from "./acceptable-prompt.ts";
import { createEmbeddedModels } from "./adapters/embedded/create-embedded-model.ts";
import { EMBEDDED_MODEL_ID } from "./adapters/embedded/identity.ts";
import { boundAnswer } from "./bound-answer.ts";
import type { ModelPrice } from "./model-price.ts";
import type { ModelInfo, ModelProvider } from "./port.ts";

/**
 * Applies the operator's choice to a provider: `MODELS` replaces its list, `DEFAULT_MODEL` its default,
 * `FALLBACK_MODELS` are its fallbacks, and `MODEL_PRICES` takes precedence over its prices.
 * `embedded/rules` resolves under every configuration, because stored chats may have started with it.
 * Every prompt is made acceptable, and every answer is bounded.
 */
export function offerModels(
  provider: ModelProvider,
  {
    MODELS,
    DEFAULT_MODEL,
    FALLBACK_MODELS = [],
    MODEL_PRICES = {},
  }: {
    readonly MODELS: readonly string[];
    readonly DEFAULT_MODEL?: string | undefined;
    readonly FALLBACK_MODELS?: readonly string[] | undefined;
    readonly MODEL_PRICES?: Readonly<Record<string, ModelPrice>> | undefined;
  },
): ModelProvider {
  const embedded = createEmbeddedModels();
  const chosenDefault = DEFAULT_MODEL ?? MODELS[0];
  const describe = async (): Promise<readonly ModelInfo[]> => {
    const offered = await provider.list();
    return [...new Set([...MODELS, ...(DEFAULT_MODEL ? [DEFAULT_MODEL] : [])])].map((id) => {
      const known = offered?.find((model) => model.id === id);
      return {
        id,
        name: id,
        provider: id === EMBEDDED_MODEL_ID ? "embedded" : provider.name,
        contextWindow: known?.contextWindow ?? null,
        inputs: known?.inputs ?? [],
      };
    });
  };
  // The ids of answers come from outside, and may be names of inherited properties.
  const ownPrice = (id: string | undefined) =>
    id !== undefined && Object.hasOwn(MODEL_PRICES, id) ? MODEL_PRICES[id] : undefined;
  const providerOf = (id: string) => (id === EMBEDDED_MODEL_ID ? embedded : provider);
  return {
    name: provider.name,
    get defaultModelId() {
      return chosenDefault ?? provider.defaultModelId;
    },
    fallbackModelIds: FALLBACK_MODELS,
    ...(provider.cacheOptions && { cacheOptions: provider.cacheOptions }),
    resolve: (id) => boundAnswer(acceptPrompts(providerOf(id).resolve(id))),
    price: async (id) =>
      ownPrice(id) ?? ownPrice(await provider.target?.(id)) ?? providerOf(id).price(id),
    list: async () => (MODELS.length > 0 ? describe() : provider.list()),
    async check(deadline) {
      const probes = (await provider.check?.(deadline)) ?? [];
      if (probes.some(({ outcome }) => outcome !== "accepted")) return probes;
      const offered = (await provider.list())?.map(({ id }) => id);
      if (offered === undefined) return probes;
      const lacks = (ids: readonly string[]) => ids.some((id) => !isOffered(id, offered));
      return [
        ...probes,
        ...(lacks(MODELS) ? [missing("MODELS")] : []),
        ...(lacks(DEFAULT_MODEL ? [DEFAULT_MODEL] : []) ? [missing("DEFAULT_MODEL")] : []),
        ...(lacks(FALLBACK_MODELS) ? [missing("FALLBACK_MODELS")] : []),
      ];
    },
  };
}

/** Ollama lists `llama3` as `llama3:latest`. */
const isOffered = (id: string, offered: readonly string[]): boolean =>
  id === EMBEDDED_MODEL_ID || offered.includes(id) || offered.includes(`${id}:latest`);

const missing = (setting: string): Probe => ({
  outcome: "missing",
  detail: `${setting} names a model that the provider of models does not list`,
  settings: [setting],
});
