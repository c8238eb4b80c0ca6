/** Measures what the calls of a model use: tokens as the model reports them, and their cost. */
import type {
  LanguageModelV4,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { services } from "../../platform/services.ts";
import { costOf } from "./cost.ts";
import { gatewayCost } from "./trace-model.ts";
import { watchStream } from "./watch-stream.ts";

/** What one model call has used. */
export interface ModelUse {
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null when no price is known. */
  readonly costUsd: number | null;
  /** The answer was cut before the model reported its tokens. */
  readonly estimated: boolean;
}

export interface Meter {
  /** The model with calls that are measured. */
  readonly model: LanguageModelV4;
  /** How many calls have begun. */
  readonly calls: () => number;
  /** Resolves with the calls so far that have used something, in the order of their ends. */
  readonly uses: () => Promise<ModelUse[]>;
}

/** A token is estimated as four characters, as in `limit-context.ts`. */
const CHARS_PER_TOKEN = 4;

/**
 * Measures the model. A call that is aborted counts with an estimate, because vendors bill what they
 * have read and written until then; one that fails does if its answer had begun.
 * @param onUse called with each use, and must not reject; a call that is not streamed waits for it
 */
export function meterModel(
  model: LanguageModelV4,
  modelId: string,
  onUse: (use: ModelUse) => Promise<void> = async () => {},
): Meter {
  const uses: Promise<ModelUse>[] = [];
  let calls = 0;
  const price = services().models.price(modelId);

  const add = (
    tokens: LanguageModelV4Usage,
    metadata: SharedV4ProviderMetadata | undefined,
    estimated: boolean,
  ): Promise<void> => {
    const billed = gatewayCost.safeParse(metadata).data?.gateway.cost;
    const use = price.then((known) => ({
      modelId,
      inputTokens: tokens.inputTokens.total ?? 0,
      outputTokens: tokens.outputTokens.total ?? 0,
      costUsd: billed ?? costOf(known, tokens),
      estimated,
    }));
    uses.push(use);
    return use.then(onUse);
  };
  const addEstimate = (prompt: LanguageModelV4Prompt, writtenChars: number) =>
    add(estimate(prompt, writtenChars), undefined, true);

  const metered = wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ doGenerate, params }) {
        calls++;
        try {
          const result = await doGenerate();
          await add(result.usage, result.providerMetadata, false);
          return result;
        } catch (error) {
          if (params.abortSignal?.aborted) await addEstimate(params.prompt, 0);
          throw error;
        }
      },
      async wrapStream({ doStream, params }) {
        calls++;
        let writtenChars = 0;
        let hasBegun = false;
        let isOver = false;
        const end = (wasAborted: boolean): void => {
          if (isOver) return;
          isOver = true;
          if (wasAborted || hasBegun) void addEstimate(params.prompt, writtenChars);
        };
        // A caller that aborts may leave the stream unread.
        params.abortSignal?.addEventListener("abort", () => end(true), { once: true });
        const part = (given: LanguageModelV4StreamPart): void => {
          if (given.type === "finish" && !isOver && hasReport(given.usage)) {
            isOver = true;
            void add(given.usage, given.providerMetadata, false);
          }
          if ("delta" in given) writtenChars += given.delta.length;
          hasBegun ||= "delta" in given || given.type === "tool-call";
        };
        try {
          const { stream, ...rest } = await doStream();
          return { ...rest, stream: watchStream(stream, { part, end: () => end(false) }) };
        } catch (error) {
          end(false);
          throw error;
        }
      },
    },
  });
  return { model: metered, calls: () => calls, uses: () => Promise.all(uses) };
}

/** Returns whether the usage says anything: a stream that breaks finishes without it. */
const hasReport = ({ inputTokens, outputTokens }: LanguageModelV4Usage): boolean =>
  inputTokens.total !== undefined || outputTokens.total !== undefined;

function estimate(prompt: LanguageModelV4Prompt, writtenChars: number): LanguageModelV4Usage {
  // Files are billed by their content, of which the length of their encoding says nothing.
  const promptText = JSON.stringify(prompt, (key, value) => (key === "data" ? null : value));
  return {
    inputTokens: {
      total: Math.ceil(promptText.length / CHARS_PER_TOKEN),
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
    },
    outputTokens: {
      total: Math.ceil(writtenChars / CHARS_PER_TOKEN),
      text: undefined,
      reasoning: undefined,
    },
  };
}
