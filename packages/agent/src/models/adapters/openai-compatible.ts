import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { requestJson } from "@platform/kit/outbound/fetch-json";
import { describeAnswer, type Probe, probeJson } from "@platform/kit/outbound/probe";
import { readJson, vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { z } from "zod";
import { boundFetch } from "../bound-fetch.ts";
import type { ModelInfo, ModelInput, ModelProvider } from "../port.ts";
import { MODEL_LIST_CACHE, MODEL_LIST_DEADLINE_MS } from "./model-list.ts";
import { readAnswers, readableFetch } from "./read-answer.ts";
import { RefusedFields } from "./refused-fields.ts";

/** The id for the first model that the server lists, so a base URL is sufficient. */
const AUTO_MODEL_ID = "auto";

const tokens = z.coerce.number().int().positive().nullish().catch(null);
/**
 * The fields in which servers list a context window, of which the first one counts: LM Studio's window of a loaded
 * model before the one of its file, vLLM's, OpenRouter's, Groq's, Mistral's and Novita's.
 */
const windows = {
  ...{ loaded_context_length: tokens, max_model_len: tokens, context_length: tokens },
  ...{ context_window: tokens, max_context_length: tokens, context_size: tokens },
};
/**
 * The API has no context window and no kinds of input. OpenRouter and others list `file` among the modalities for
 * PDFs, and llama.cpp the window of a request as `n_ctx`.
 */
const listedModel = z
  .object({
    id: z.string().min(1),
    ...windows,
    meta: z.object({ n_ctx: tokens }).nullish().catch(null),
    architecture: z
      .object({ input_modalities: z.array(z.string()) })
      .nullish()
      .catch(null),
  })
  .transform(({ id, meta, architecture, ...sizes }) => ({
    id,
    contextWindow: Object.values(sizes).find((size) => size != null) ?? meta?.n_ctx ?? null,
    inputs: inputsOf(architecture?.input_modalities ?? []),
  }));
/** Together lists models without an object around them. An entry that cannot be read does not hide the others. */
const modelList = z
  .union([z.array(z.unknown()), z.object({ data: z.array(z.unknown()) })])
  .transform((list) =>
    (Array.isArray(list) ? list : list.data).flatMap(
      (entry) => listedModel.safeParse(entry).data ?? [],
    ),
  );

type Listed = Pick<ModelInfo, "id" | "contextWindow" | "inputs">;

const inputsOf = (modalities: readonly string[]): ModelInput[] => [
  ...(modalities.includes("image") ? (["image"] as const) : []),
  ...(modalities.includes("file") ? (["pdf"] as const) : []),
];

export interface OpenAiCompatibleSettings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Whether the list has `auto`, which is useless when the operator has set a default. */
  readonly offersAuto: boolean;
  /** Whether requests have `prompt_cache_key`, a field that some servers reject. */
  readonly sendsCacheKey?: boolean;
}

/** Language models of any server with OpenAI's chat completions API, such as Ollama or vLLM. */
export function createOpenAiCompatibleModels(settings: OpenAiCompatibleSettings): ModelProvider {
  const { baseUrl, apiKey, offersAuto, sendsCacheKey } = settings;
  const name = "openai-compatible";
  const refused = new RefusedFields();
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    includeUsage: true,
    fetch: readableFetch(refused.wrap(boundFetch)),
    // The SDK sends the signature of a tool call in the provider's own form, and where the call has options of the
    // name that `cacheOptions` uses, also as a field of call and result that no provider knows.
    transformRequestBody: (body) => {
      for (const message of body.messages) {
        for (const signed of [message, ...(message.tool_calls ?? [])])
          delete signed.thoughtSignature;
      }
      return body;
    },
  });
  const open = (id: string): LanguageModelV4 =>
    readAnswers(provider(id), (field) => refused.noteReasoning(field));
  const cache = createTtlCache<readonly Listed[] | null>(MODEL_LIST_CACHE);
  const readList = async (): Promise<readonly Listed[] | null> => {
    const response = await vendorFetch("model", `${baseUrl.replace(/\/+$/, "")}/models`, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      signal: AbortSignal.timeout(MODEL_LIST_DEADLINE_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    return modelList.parse(await readJson(response));
  };
  const readModels = () => cache.get("models", () => readList().catch(() => null));
  return {
    name,
    defaultModelId: AUTO_MODEL_ID,
    resolve: (modelId) =>
      modelId === AUTO_MODEL_ID ? firstListed(readModels, open) : open(modelId),
    ...(sendsCacheKey && {
      cacheOptions: (conversation: string) => ({
        openaiCompatible: { prompt_cache_key: conversation },
      }),
    }),
    async list() {
      const listed = await readModels();
      if (listed === null) return null;
      const first = {
        id: AUTO_MODEL_ID,
        name: `${listed[0]?.id ?? "no model"} (default)`,
        provider: name,
        contextWindow: listed[0]?.contextWindow ?? null,
        inputs: listed[0]?.inputs ?? [],
      };
      return [
        ...(offersAuto ? [first] : []),
        ...listed.map((model) => ({ ...model, name: model.id, provider: name })),
      ];
    },
    target: async (modelId) =>
      modelId === AUTO_MODEL_ID ? (await readModels())?.[0]?.id : undefined,
    price: async () => null,
    check: async (deadline) => [await probe(settings, deadline)],
  };
}

const access = { credentials: ["OPENAI_API_KEY"], address: ["OPENAI_BASE_URL"] };

/**
 * Lists the models. Some servers do so without a key. Their error for a completion without a model shows
 * whether they accept the key.
 */
async function probe(
  { baseUrl, apiKey }: OpenAiCompatibleSettings,
  deadline: AbortSignal,
): Promise<Probe> {
  const base = baseUrl.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const url = new URL(`${base}/models`);
  const listed = await probeJson(url, { vendor: "model", headers, deadline }, access);
  if (listed.outcome !== "accepted" || !apiKey) return listed;
  const completions = new URL(`${base}/chat/completions`);
  const answer = await requestJson(completions, { vendor: "model", headers, body: {}, deadline });
  const isRejected = answer.kind === "refused" && [401, 403].includes(answer.status);
  return isRejected ? describeAnswer(completions, answer, access) : listed;
}

/** Returns a model that resolves to the first listed one at every call. */
function firstListed(
  list: () => Promise<readonly Listed[] | null>,
  open: (id: string) => LanguageModelV4,
): LanguageModelV4 {
  const first = async (): Promise<LanguageModelV4> => {
    const id = (await list())?.[0]?.id;
    if (id === undefined) throw new Error("The model server lists no model; set DEFAULT_MODEL");
    return open(id);
  };
  return {
    specificationVersion: "v4",
    provider: "openai-compatible",
    modelId: AUTO_MODEL_ID,
    supportedUrls: {},
    doGenerate: async (options) => (await first()).doGenerate(options),
    doStream: async (options) => (await first()).doStream(options),
  };
}
