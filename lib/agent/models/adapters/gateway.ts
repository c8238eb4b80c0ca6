import { createGateway } from "@ai-sdk/gateway";
import { z } from "zod";
import { type ModelPrice, modelPrice } from "../../../platform/model-price.ts";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import { accepted, describeAnswer, type Probe } from "../../../platform/outbound/probe.ts";
import { createTtlCache } from "../../../platform/ttl-cache.ts";
import { boundFetch } from "../bound-fetch.ts";
import type { ModelInfo, ModelProvider } from "../port.ts";
import { MODEL_LIST_CACHE, MODEL_LIST_DEADLINE_MS } from "./model-list.ts";

const CREDITS_URL = "https://ai-gateway.vercel.sh/v1/credits";

interface GatewaySettings {
  readonly apiKey: string;
  /** Which answers to a key alone, unlike the list of models. Default: the AI Gateway's. */
  readonly creditsUrl?: string | undefined;
}

const DEFAULT_MODEL_ID = "anthropic/claude-sonnet-4.5";

/** Language models through Vercel's AI Gateway. */
export function createGatewayModels({ apiKey, creditsUrl }: GatewaySettings): ModelProvider {
  const gateway = createGateway({ apiKey, fetch: boundFetch });
  const lister = createGateway({
    apiKey,
    fetch: (input, init) =>
      boundFetch(input, { ...init, signal: AbortSignal.timeout(MODEL_LIST_DEADLINE_MS) }),
  });
  const cache = createTtlCache<readonly ModelInfo[] | null>(MODEL_LIST_CACHE);
  let prices: ReadonlyMap<string, ModelPrice> | undefined;
  const readList = async () => {
    const { models } = await lister.getAvailableModels();
    prices = new Map(
      models.flatMap(({ id, pricing }) => (pricing ? [[id, toPrice(pricing)]] : [])),
    );
    return models
      .filter((model) => (model.modelType ?? "language") === "language")
      .map(({ id, name }) => ({ id, name, provider: "gateway" }));
  };
  const list = () => cache.get("models", () => readList().catch(() => null));
  return {
    name: "gateway",
    defaultModelId: DEFAULT_MODEL_ID,
    // A bare model id would make the AI SDK use its own default gateway.
    resolve: (modelId) => gateway(modelId),
    list,
    async price(modelId) {
      const listed = list();
      // The last ones known, so that a turn does not wait for the list again and again.
      if (prices === undefined) await listed;
      return prices?.get(modelId) ?? null;
    },
    check: async (deadline) => [
      await probeCredits(new URL(creditsUrl ?? CREDITS_URL), apiKey, deadline),
    ],
  };
}

/** The gateway's prices are for one token. */
function toPrice(pricing: {
  input: string;
  output: string;
  cachedInputTokens?: string;
}): ModelPrice {
  const perMillion = (text: string) => Number(text) * 1_000_000;
  const { data } = modelPrice.safeParse({
    input: perMillion(pricing.input),
    output: perMillion(pricing.output),
    ...(pricing.cachedInputTokens && { cached_input: perMillion(pricing.cachedInputTokens) }),
  });
  return data ?? {};
}

const access = { credentials: ["AI_GATEWAY_API_KEY"], address: [] };
const credits = z.object({ balance: z.string().regex(/^-?\d{1,12}(\.\d{1,12})?$/) });

async function probeCredits(url: URL, apiKey: string, deadline: AbortSignal): Promise<Probe> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const answer = await requestJson(url, { vendor: "model", headers, deadline });
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  const balance = credits.safeParse(answer.body).data?.balance;
  const found = accepted(url, access);
  return balance ? { ...found, detail: `${found.detail}, ${balance} USD of credit left` } : found;
}
