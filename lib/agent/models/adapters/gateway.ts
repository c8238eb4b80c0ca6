import { createGateway } from "@ai-sdk/gateway";
import { createTtlCache } from "../../../platform/ttl-cache.ts";
import { boundFetch } from "../bound-fetch.ts";
import type { ModelInfo, ModelProvider } from "../port.ts";
import { MODEL_LIST_CACHE, MODEL_LIST_DEADLINE_MS } from "./model-list.ts";

const DEFAULT_MODEL_ID = "anthropic/claude-sonnet-4.5";

/** Language models through Vercel's AI Gateway. */
export function createGatewayModels(apiKey: string): ModelProvider {
  const gateway = createGateway({ apiKey, fetch: boundFetch });
  const lister = createGateway({
    apiKey,
    fetch: (input, init) =>
      boundFetch(input, { ...init, signal: AbortSignal.timeout(MODEL_LIST_DEADLINE_MS) }),
  });
  const cache = createTtlCache<readonly ModelInfo[] | null>(MODEL_LIST_CACHE);
  const readList = async () => {
    const { models } = await lister.getAvailableModels();
    return models
      .filter((model) => (model.modelType ?? "language") === "language")
      .map(({ id, name }) => ({ id, name, provider: "gateway" }));
  };
  return {
    name: "gateway",
    defaultModelId: DEFAULT_MODEL_ID,
    // A bare model id would make the AI SDK use its own default gateway.
    resolve: (modelId) => gateway(modelId),
    list: () => cache.get("models", () => readList().catch(() => null)),
  };
}
