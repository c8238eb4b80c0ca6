/**
 * Measures the usage of model calls: tokens as the model reports them, and their cost. Reports are
 * untrusted input: all consumers of the metered model see only plausible numbers.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { count } from "@platform/kit/telemetry/metrics";
import { wrapLanguageModel } from "ai";
import { pdfTokens } from "../pdf-tokens.ts";
import type { ModelPrice } from "./model-price.ts";
import type { ModelProvider } from "./port.ts";
import { billedUsd } from "./share-model.ts";
import { endWith, watchStream } from "./watch-stream.ts";

/** The usage of one model call. */
export interface ModelUse {
  /** The model that answered, or the requested one if the answer does not name it. */
  readonly modelId: string;
  readonly inputTokens: number;
  /** The part of `inputTokens` that the provider had cached. */
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Null when no price is known. */
  readonly costUsd: number | null;
  /** The answer was cut before the model reported its tokens. */
  readonly estimated: boolean;
}

export interface Meter {
  /** The model with calls that are measured. */
  readonly model: LanguageModelV4;
  /** The number of calls started, without refused ones. */
  readonly calls: () => number;
  /** Resolves with the calls so far that have used something, in the order of their ends. */
  readonly uses: () => Promise<ModelUse[]>;
}

/** A token is estimated as four characters, as in `tool-results.ts`. */
const CHARS_PER_TOKEN = 4;
/** Far above what any model reads or writes in one call. */
const MAX_TOKENS = 100_000_000;
/** More than most answers have. A longer one exceeds its reservation. */
const RESERVED_OUTPUT_TOKENS = 4_096;
/** The maximum in `usage_entries`. */
const MAX_MODEL_ID_CHARS = 200;

export interface Metering {
  /** Called with each use, and must not reject; a call that is not streamed waits for it. */
  readonly onUse?: (use: ModelUse) => Promise<void>;
  /**
   * Called before each call with its maximum cost in USD, or null when the price is not known. If it
   * rejects, the call fails with the same error.
   */
  readonly reserve?: (estimateUsd: number | null) => Promise<void>;
  /** Shared by the meters of models that are called in turn, which then report the uses of all. */
  readonly uses?: Promise<ModelUse>[];
}

/**
 * Measures a model. A call that is aborted counts with an estimate, because vendors bill the tokens read
 * and written until then. A call that fails counts if its answer had started.
 */
export function meterModel(
  models: ModelProvider,
  modelId: string,
  { onUse = async () => {}, reserve, uses = [] }: Metering = {},
): Meter {
  let calls = 0;
  const price = models.price(modelId);

  const describeUse = async (
    tokens: LanguageModelV4Usage,
    { answeredBy, metadata, estimated }: Answer,
  ): Promise<ModelUse> => {
    const id = answeredBy?.replaceAll("\0", "").slice(0, MAX_MODEL_ID_CHARS).toWellFormed();
    const known = id && id !== modelId ? await models.price(id) : null;
    const costUsd = billedUsd(tokens, metadata) ?? costOf(known ?? (await price), tokens);
    // By the requested model, because an answer may name any.
    count("agent_platform.model.cost", costUsd ?? 0, { "gen_ai.request.model": modelId });
    return {
      modelId: id || modelId,
      inputTokens: tokens.inputTokens.total ?? 0,
      cachedInputTokens: Math.min(tokens.inputTokens.cacheRead ?? 0, tokens.inputTokens.total ?? 0),
      outputTokens: tokens.outputTokens.total ?? 0,
      costUsd,
      estimated,
    };
  };
  const add = (tokens: LanguageModelV4Usage, answer: Answer): Promise<void> => {
    const use = describeUse(tokens, answer);
    uses.push(use);
    return use.then(onUse);
  };
  const addEstimate = (
    prompt: LanguageModelV4Prompt,
    writtenChars: number,
    answeredBy?: string | undefined,
  ) => add(estimate(prompt, writtenChars), { answeredBy, metadata: undefined, estimated: true });
  const begin = async (call: LanguageModelV4CallOptions): Promise<void> => {
    if (reserve) {
      const { prompt, maxOutputTokens = RESERVED_OUTPUT_TOKENS, abortSignal } = call;
      await reserve(costOf(await price, estimate(prompt, maxOutputTokens * CHARS_PER_TOKEN)));
      // A call that was stopped by now is not made, and not estimated.
      abortSignal?.throwIfAborted();
    }
    calls++;
  };

  const metered = wrapLanguageModel({
    model: models.resolve(modelId),
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ doGenerate, params }) {
        await begin(params);
        try {
          const result = await doGenerate();
          const usage = plausible(result.usage);
          const { providerMetadata: metadata, response } = result;
          const answeredBy = response?.modelId;
          if (hasReport(usage)) await add(usage, { answeredBy, metadata, estimated: false });
          else await addEstimate(params.prompt, JSON.stringify(result.content).length, answeredBy);
          return { ...result, usage };
        } catch (error) {
          if (params.abortSignal?.aborted) await addEstimate(params.prompt, 0);
          throw error;
        }
      },
      async wrapStream({ doStream, params }) {
        await begin(params);
        let writtenChars = 0;
        let answeredBy: string | undefined;
        let hasBegun = false;
        let isOver = false;
        const end = endWith(params.abortSignal, (reason) => {
          if (isOver) return;
          isOver = true;
          const wasAborted = reason === "aborted";
          if (wasAborted || hasBegun) void addEstimate(params.prompt, writtenChars, answeredBy);
        });
        const map = (part: LanguageModelV4StreamPart): LanguageModelV4StreamPart => {
          if (part.type === "response-metadata") answeredBy = part.modelId ?? answeredBy;
          if ("delta" in part) writtenChars += part.delta.length;
          hasBegun ||= "delta" in part || part.type === "tool-call";
          if (part.type !== "finish") return part;
          const usage = plausible(part.usage);
          if (!isOver && hasReport(usage)) {
            isOver = true;
            void add(usage, { answeredBy, metadata: part.providerMetadata, estimated: false });
          }
          return { ...part, usage };
        };
        try {
          const { stream, ...rest } = await doStream();
          return { ...rest, stream: watchStream(stream, { map, end: () => end() }) };
        } catch (error) {
          end();
          throw error;
        }
      },
    },
  });
  return { model: metered, calls: () => calls, uses: () => Promise.all(uses) };
}

interface Answer {
  /** The model's id in the answer. */
  readonly answeredBy: string | undefined;
  readonly metadata: SharedV4ProviderMetadata | undefined;
  readonly estimated: boolean;
}

/** Returns whether the usage says anything: a stream that breaks finishes without it. */
const hasReport = ({ inputTokens, outputTokens }: LanguageModelV4Usage): boolean =>
  inputTokens.total !== undefined || outputTokens.total !== undefined;

/**
 * Rounds token counts and removes the ones that no call can have. If either total is removed, none of the
 * report is left, because the call is then better estimated than billed by the other half.
 */
function plausible({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): LanguageModelV4Usage {
  const clean = <T extends Readonly<Record<string, number | undefined>>>(counts: T): T =>
    Object.fromEntries(
      Object.entries(counts).map(([key, count]) => [key, plausibleCount(count)]),
    ) as T;
  const isAbsurd = ({ total }: { readonly total: number | undefined }) =>
    (total ?? null) !== null && plausibleCount(total) === undefined;
  if (isAbsurd(inputTokens) || isAbsurd(outputTokens)) return NO_REPORT;
  return {
    inputTokens: clean(inputTokens),
    outputTokens: clean(outputTokens),
    ...(raw && { raw }),
  };
}

const plausibleCount = (count: unknown): number | undefined =>
  typeof count === "number" && count >= 0 && count <= MAX_TOKENS ? Math.round(count) : undefined;

const NO_REPORT: LanguageModelV4Usage = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function estimate(prompt: LanguageModelV4Prompt, writtenChars: number): LanguageModelV4Usage {
  let ofPdfs = 0;
  // Files are billed by their content, of which the length of their encoding says nothing.
  const promptText = JSON.stringify(prompt, (key, value) => {
    ofPdfs += pdfTokens(value);
    return key === "data" ? null : value;
  });
  const { inputTokens, outputTokens } = NO_REPORT;
  return {
    inputTokens: {
      ...inputTokens,
      total: Math.ceil(promptText.length / CHARS_PER_TOKEN) + ofPdfs,
    },
    outputTokens: { ...outputTokens, total: Math.ceil(writtenChars / CHARS_PER_TOKEN) },
  };
}

const TOKENS_OF_A_PRICE = 1_000_000;

/** Returns the cost in USD, or null when the price of the tokens is not known. */
function costOf(
  price: ModelPrice | null,
  { inputTokens, outputTokens }: LanguageModelV4Usage,
): number | null {
  if (price?.input === undefined || price.output === undefined) return null;
  const input = inputTokens.total ?? 0;
  const cached = Math.min(inputTokens.cacheRead ?? 0, input);
  const cost =
    (input - cached) * price.input +
    cached * (price.cached_input ?? price.input) +
    (outputTokens.total ?? 0) * price.output;
  return cost / TOKENS_OF_A_PRICE;
}
