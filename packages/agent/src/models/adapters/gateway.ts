import { createGateway } from "@ai-sdk/gateway";
import { requestJson } from "@platform/kit/outbound/fetch-json";
import { accepted, describeAnswer, type Probe } from "@platform/kit/outbound/probe";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { z } from "zod";
import { boundFetch } from "../bound-fetch.ts";
import { type ModelPrice, modelPrice } from "../model-price.ts";
import type { ModelInfo, ModelInput, ModelProvider } from "../port.ts";
import { MODEL_LIST_CACHE, MODEL_LIST_DEADLINE_MS } from "./model-list.ts";

const ORIGIN = "https://ai-gateway.vercel.sh";

interface GatewaySettings {
  readonly apiKey: string;
  /** Default: the AI Gateway's. */
  readonly origin?: string | undefined;
}

/** The default model is the newest of this family that is listed. */
const DEFAULT_FAMILY = /^anthropic\/claude-sonnet-\d+(?:\.\d+)?$/;
/** Until the models have been listed. */
const DEFAULT_MODEL_ID = "anthropic/claude-sonnet-4.5";

const newestOf = (ids: readonly string[]): string | undefined => {
  const family = ids.filter((id) => DEFAULT_FAMILY.test(id));
  return family.sort((one, other) => other.localeCompare(one, "en", { numeric: true }))[0];
};

/** Language models through Vercel's AI Gateway. */
export function createGatewayModels({ apiKey, origin = ORIGIN }: GatewaySettings): ModelProvider {
  // The path is the library's own default.
  const connection = { apiKey, baseURL: `${origin}/v4/ai` };
  const gateway = createGateway({ ...connection, fetch: boundFetch });
  const lister = createGateway({
    ...connection,
    fetch: (input, init) =>
      boundFetch(input, { ...init, signal: AbortSignal.timeout(MODEL_LIST_DEADLINE_MS) }),
  });
  const cache = createTtlCache<readonly ModelInfo[] | null>(MODEL_LIST_CACHE);
  let prices: ReadonlyMap<string, ModelPrice> | undefined;
  let defaultModelId = DEFAULT_MODEL_ID;
  const readList = async () => {
    const [{ models }, details] = await Promise.all([
      lister.getAvailableModels(),
      readDetails(origin, apiKey),
    ]);
    prices = new Map(
      models.flatMap(({ id, pricing }) => (pricing ? [[id, toPrice(pricing)]] : [])),
    );
    const language = models.filter((model) => (model.modelType ?? "language") === "language");
    defaultModelId = newestOf(language.map(({ id }) => id)) ?? DEFAULT_MODEL_ID;
    return language.map(({ id, name }) => ({
      id,
      name,
      provider: "gateway",
      contextWindow: details.get(id)?.context_window ?? null,
      inputs: inputsOf(details.get(id)?.tags ?? []),
    }));
  };
  const list = () => cache.get("models", () => readList().catch(() => null));
  return {
    name: "gateway",
    get defaultModelId() {
      // A turn must not wait for the list.
      void list();
      return defaultModelId;
    },
    // A bare model id would make the AI SDK use its own default gateway.
    resolve: (modelId) => gateway(modelId),
    cacheOptions: () => ({ gateway: { caching: "auto" } }),
    list,
    async price(modelId) {
      const listed = list();
      // Uses the last known prices: a turn must not wait for the list each time.
      if (prices === undefined) await listed;
      return prices?.get(modelId) ?? null;
    },
    check: async (deadline) => [
      // Unlike the list of models, this answers to a key alone.
      await probeCredits(new URL(`${origin}/v1/credits`), apiKey, deadline),
    ],
  };
}

const modelDetails = z.object({
  id: z.string(),
  /** In tokens. */
  context_window: z.int().positive().nullish(),
  tags: z.array(z.string()).nullish().catch(null),
});
type ModelDetails = z.output<typeof modelDetails>;
const detailList = z.object({ data: z.array(modelDetails) });

const inputsOf = (tags: readonly string[]): ModelInput[] => [
  ...(tags.includes("vision") ? (["image"] as const) : []),
  ...(tags.includes("file-input") ? (["pdf"] as const) : []),
];

/** Returns what only this list has, by model. A list that cannot be read is empty. */
async function readDetails(
  origin: string,
  apiKey: string,
): Promise<ReadonlyMap<string, ModelDetails>> {
  const answer = await requestJson(new URL(`${origin}/v1/models`), {
    vendor: "model",
    headers: { authorization: `Bearer ${apiKey}` },
    deadline: AbortSignal.timeout(MODEL_LIST_DEADLINE_MS),
  });
  const listed = answer.kind === "json" ? detailList.safeParse(answer.body).data : undefined;
  return new Map((listed?.data ?? []).map((details) => [details.id, details]));
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
