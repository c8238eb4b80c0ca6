import { setTimeout as delay } from "node:timers/promises";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { log as serverLog } from "@platform/kit/log";
import { generateText } from "ai";
import {
  isConnectionLoss,
  isFailedToolUse,
  isOutage,
  retryDelayMs,
  tooLong,
} from "./describe-failure.ts";
import { budgetRefusalIn } from "./models/budget-refusal.ts";
import type { ModelOutages } from "./models/model-outages.ts";

/** How often an answer whose stream breaks is requested. */
const MAX_STREAM_ATTEMPTS = 3;

/** The models that may answer a request. */
export interface Models {
  /** The turn, for the log. */
  readonly turnId: string;
  /** In the order in which they are called. */
  readonly modelIds: [string, ...string[]];
  /** Returns a model, which shares the slots of model calls. */
  readonly open: (modelId: string) => LanguageModelV4;
  readonly outages: ModelOutages;
}

export interface Failure {
  readonly failure: unknown;
}

/** How a model is called. */
export interface Attempt {
  readonly model: LanguageModelV4;
  readonly modelId: string;
  /** How often a call that fails before its answer starts is repeated. Default: 2 */
  readonly maxRetries: number | undefined;
}

/**
 * Calls the models in turn until one answers. A model that fails by itself, or calls a tool in a way that its server
 * refuses, is called once more, if it recovers soon, and then the next one is.
 * @param call resolves with the answer or the failure, including when `signal` has aborted
 * @param onRepeat called before each call except the first
 * @returns the answer or the last failure, and the model that gave it
 */
export async function tryModels<A extends object>(
  { turnId, modelIds, open, outages }: Models,
  signal: AbortSignal,
  call: (attempt: Attempt) => Promise<A | Failure>,
  onRepeat: () => void = () => {},
): Promise<{ readonly modelId: string; readonly answer: A | Failure }> {
  let [modelId, ...fallbacks] = outages.available(modelIds);
  for (let attempt = 1; ; attempt++) {
    const maxRetries = fallbacks.length > 0 ? 0 : undefined;
    const answer = await call({ model: open(modelId), modelId, maxRetries });
    if (!("failure" in answer)) {
      if (!signal.aborted) outages.recordAnswer(modelId);
      return { modelId, answer };
    }
    const { failure } = answer;
    const isRefused = isQueueRefusal(failure) || budgetRefusalIn(failure) !== undefined;
    if (signal.aborted || isRefused || tooLong(failure)) return { modelId, answer };
    serverLog().warn({ err: failure, turnId, modelId, attempt }, "model call failed");
    if (attempt === 1 && isFailedToolUse(failure)) {
      onRepeat();
      continue;
    }
    const [next, ...others] = isOutage(failure) ? fallbacks : [];
    const waitMs = next !== undefined && attempt === 1 ? retryDelayMs(failure) : undefined;
    if (waitMs !== undefined) {
      await delay(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return { modelId, answer };
    } else if (next !== undefined) {
      outages.recordFailure(modelId);
      [modelId, fallbacks, attempt] = [next, others, 0];
    } else if (attempt >= MAX_STREAM_ATTEMPTS || !isConnectionLoss(failure)) {
      // A call that fails before its answer starts was repeated already, but not a stream that breaks.
      if (isOutage(failure)) outages.recordFailure(modelId);
      return { modelId, answer };
    }
    onRepeat();
  }
}

/**
 * Lets the models write a text, as `tryModels` does.
 * @returns the text or the last failure
 * @throws the reason of `signal`
 */
export async function tryToWrite(
  models: Models,
  { signal, ...request }: { instructions: string; prompt: string; signal: AbortSignal },
): Promise<{ readonly text: string } | Failure> {
  const { answer } = await tryModels(models, signal, ({ model, maxRetries }) =>
    generateText({
      model,
      ...request,
      ...(maxRetries !== undefined && { maxRetries }),
      abortSignal: signal,
    }).catch((failure: unknown) => ({ failure })),
  );
  signal.throwIfAborted();
  return answer;
}
