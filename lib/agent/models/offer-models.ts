import { EMBEDDED_MODEL_ID } from "./adapters/embedded/identity.ts";
import { createEmbeddedModels } from "./adapters/embedded/models.ts";
import { boundAnswer } from "./bound-answer.ts";
import type { ModelProvider } from "./port.ts";

/**
 * Applies the operator's choice to a provider: `MODELS` replaces its list, `DEFAULT_MODEL` its
 * default. `embedded/rules` resolves under every configuration, because chats that began with it
 * may be stored. Every answer is bounded.
 */
export function offerModels(
  provider: ModelProvider,
  {
    MODELS,
    DEFAULT_MODEL,
  }: { readonly MODELS: readonly string[]; readonly DEFAULT_MODEL?: string | undefined },
): ModelProvider {
  const embedded = createEmbeddedModels();
  const defaultModelId = DEFAULT_MODEL ?? MODELS[0] ?? provider.defaultModelId;
  const listed = [...new Set([...MODELS, defaultModelId])].map((id) => ({
    id,
    name: id,
    provider: id === EMBEDDED_MODEL_ID ? "embedded" : provider.name,
  }));
  return {
    name: provider.name,
    defaultModelId,
    resolve: (id) => boundAnswer((id === EMBEDDED_MODEL_ID ? embedded : provider).resolve(id)),
    list: async () => (MODELS.length > 0 ? listed : provider.list()),
  };
}
