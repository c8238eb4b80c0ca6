/**
 * From a model id to something the AI SDK can call, by what the settings offer: the AI Gateway,
 * an OpenAI-compatible server, or the embedded rule-based model. Ids are resolved here because
 * the SDK sends a plain string to the gateway, whatever is configured.
 */
import { createGateway } from "@ai-sdk/gateway";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type Config, config } from "../../platform/config.ts";
import { createEmbeddedModel } from "./adapters/embedded/create-embedded-model.ts";
import { EMBEDDED_MODEL_ID, EMBEDDED_PROVIDER } from "./adapters/embedded/identity.ts";
import { boundAnswer } from "./bound-answer.ts";
import { boundFetch } from "./bound-fetch.ts";
import { createFirstListedModel } from "./create-first-listed-model.ts";
import { AUTO_MODEL_ID, defaultModelId } from "./default-model.ts";
import { listGatewayModels, listServerModels } from "./list-remote-models.ts";

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
}

/**
 * Never fails: whether a remote model exists shows when it is called. `embedded/rules` resolves
 * under every configuration, since chats that began with it may be stored.
 */
export function resolveModel(modelId: string, settings: Config = config()): LanguageModelV4 {
  return boundAnswer(findModel(modelId, settings));
}

function findModel(modelId: string, settings: Config): LanguageModelV4 {
  if (modelId === EMBEDDED_MODEL_ID) return createEmbeddedModel();
  if (settings.AI_GATEWAY_API_KEY) {
    return createGateway({ apiKey: settings.AI_GATEWAY_API_KEY, fetch: boundFetch })(modelId);
  }
  if (!settings.OPENAI_BASE_URL) return createEmbeddedModel();
  const server = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: settings.OPENAI_BASE_URL,
    ...(settings.OPENAI_API_KEY === undefined ? {} : { apiKey: settings.OPENAI_API_KEY }),
    includeUsage: true,
    fetch: boundFetch,
  });
  if (modelId !== AUTO_MODEL_ID) return server(modelId);
  return createFirstListedModel(() => listServerModels(settings), server);
}

/** What a caller may choose. Null when the list has to come from a service that does not answer. */
export async function availableModels(
  settings: Config = config(),
): Promise<readonly ModelInfo[] | null> {
  const provider = providerName(settings);
  if (settings.MODELS.length > 0) {
    const ids = new Set([...settings.MODELS, defaultModelId(settings)]);
    return [...ids].map((id) => ({ id, name: id, provider: providerOf(id, provider) }));
  }
  if (settings.AI_GATEWAY_API_KEY) return listGatewayModels(settings.AI_GATEWAY_API_KEY);
  if (!settings.OPENAI_BASE_URL) {
    return [{ id: EMBEDDED_MODEL_ID, name: "Embedded rules (not an AI)", provider }];
  }
  const ids = await listServerModels(settings);
  if (ids === null) return null;
  const chosen = defaultModelId(settings);
  const first =
    chosen === AUTO_MODEL_ID
      ? [{ id: chosen, name: `First listed: ${ids[0] ?? "none"}`, provider }]
      : [];
  return [...first, ...ids.map((id) => ({ id, name: id, provider }))];
}

/** An id is taken on trust while the list cannot be had: the call itself will tell. */
export async function isKnownModel(id: string, settings: Config = config()): Promise<boolean> {
  if (id === defaultModelId(settings)) return true;
  const models = await availableModels(settings);
  return models === null || models.some((model) => model.id === id);
}

function providerName(settings: Config): string {
  if (settings.AI_GATEWAY_API_KEY) return "gateway";
  return settings.OPENAI_BASE_URL ? "openai-compatible" : EMBEDDED_PROVIDER;
}

const providerOf = (id: string, provider: string): string =>
  id === EMBEDDED_MODEL_ID ? EMBEDDED_PROVIDER : provider;
