import { setTimeout as delay } from "node:timers/promises";
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ToolModelMessage, UIMessageChunk } from "ai";
import type { RunOptions } from "../contract/run-options.ts";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { log as serverLog } from "../platform/log.ts";
import { type ContextState, promptOf } from "./context.ts";
import { type Messages, unitsOf } from "./conversation.ts";
import {
  describeFailure,
  isConnectionLoss,
  isOutage,
  retryDelayMs,
  tooLong,
} from "./describe-failure.ts";
import { budgetRefusalIn } from "./models/budget-refusal.ts";
import type { ModelOutages } from "./models/model-outages.ts";
import { subagentPrompt, systemPrompt } from "./prompt.ts";
import type { StepResult } from "./step-result.ts";
import { type Answer, streamAnswer } from "./stream-answer.ts";
import { toolSchemas } from "./tools/index.ts";
import { inStoredOrder, storableJson } from "./tools/make-storable.ts";

/** How often an answer whose stream breaks is requested. */
const MAX_STREAM_ATTEMPTS = 3;

/** The part of a turn's state that a model call needs. */
export interface Conversation extends Messages {
  readonly model_id: string;
  readonly headless: boolean;
  readonly artist_id: string | null;
  readonly instructions: string | null;
  readonly options: RunOptions;
  /** Present in the conversation of a subagent. */
  readonly subagent?: object;
  /** What the model gets of the conversation. */
  readonly context: ContextState;
}

interface Call {
  readonly turnId: string;
  readonly turn: Conversation;
  /** The results of the turn's earlier model calls. */
  readonly steps: readonly StepResult[];
  /** The results of the tools that the last of them called. */
  readonly results: readonly ToolModelMessage[];
  /** The ids of the models that may answer, in the order in which they are called. */
  readonly modelIds: [string, ...string[]];
  /** Returns a model, which shares the slots of model calls. */
  readonly open: (modelId: string) => LanguageModelV4;
  readonly outages: ModelOutages;
  /** As of `cacheOptions` of the provider of models. */
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  readonly signal: AbortSignal;
  readonly write: (chunk: UIMessageChunk) => void;
}

export interface FailedCall {
  /** May be shown. */
  readonly error: string;
  /** Present when a model has rejected the request as too long: its window in tokens, if it was named. */
  readonly exceeded?: { readonly modelId: string; readonly window: number | null };
}

export const instructionsFor = (turn: Omit<Conversation, "context">): string =>
  turn.subagent
    ? subagentPrompt()
    : systemPrompt({
        headless: turn.headless,
        ...(turn.artist_id === null ? {} : { artistId: turn.artist_id }),
        ...(turn.instructions === null ? {} : { instructions: turn.instructions }),
      });

/**
 * Calls the model and streams its answer with `write`. A model that fails by itself is called once more, if it
 * recovers soon, and then the next one answers. Each repetition starts with a `reset-step` chunk.
 * @returns the answer for the next call, or the failure, also when `signal` has aborted. Throws only errors
 * of `write`.
 */
export async function callModel({
  turnId,
  turn,
  steps,
  results,
  modelIds,
  open,
  outages,
  providerOptions,
  signal,
  write,
}: Call): Promise<StepResult | FailedCall> {
  const tools = toolSchemas(turn);
  const messages = promptOf(await unitsOf(turn, steps, results, tools), turn.context);
  const { effort } = turn.options;
  let [modelId, ...fallbacks] = outages.available(modelIds);
  for (let attempt = 1; ; attempt++) {
    const unread = new AbortController();
    const answer = await streamAnswer({
      model: open(modelId),
      instructions: instructionsFor(turn),
      messages,
      tools,
      providerOptions,
      ...(effort && { reasoning: effort }),
      maxRetries: fallbacks.length > 0 ? 0 : undefined,
      signal: AbortSignal.any([signal, unread.signal]),
      write,
    }).catch((error: unknown) => {
      // An unread answer would keep its connection and its slot.
      unread.abort();
      throw error;
    });
    if (signal.aborted) return { error: describeFailure(undefined) };
    if (!("failure" in answer)) {
      outages.recordAnswer(modelId);
      return toStepResult(answer, results, modelId);
    }
    const { failure } = answer;
    const error = describeFailure(failure);
    if (isQueueRefusal(failure) || budgetRefusalIn(failure)) return { error };
    const exceeded = tooLong(failure);
    if (exceeded) return { error, exceeded: { ...exceeded, modelId } };
    serverLog().warn({ err: failure, turnId, modelId, attempt }, "model call failed");
    const [next, ...others] = isOutage(failure) ? fallbacks : [];
    const waitMs = next !== undefined && attempt === 1 ? retryDelayMs(failure) : undefined;
    if (waitMs !== undefined) {
      await delay(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return { error };
    } else if (next !== undefined) {
      outages.recordFailure(modelId);
      [modelId, fallbacks, attempt] = [next, others, 0];
    } else if (attempt >= MAX_STREAM_ATTEMPTS || !isConnectionLoss(failure)) {
      // A call that fails before its answer starts was repeated already, but not a stream that breaks.
      if (isOutage(failure)) outages.recordFailure(modelId);
      return { error };
    }
    write({ type: "reset-step" });
  }
}

function toStepResult(
  { messages, calls, usage, finishReason }: Answer,
  results: readonly ToolModelMessage[],
  modelId: string,
): StepResult {
  const answer: StepResult = {
    messages: [...results, ...messages],
    calls: calls
      .filter((call) => !call.invalid)
      .map((call) => ({ id: call.toolCallId, name: call.toolName, input: call.input })),
    hasInvalidCall: calls.some((call) => call.invalid),
    usage: {
      inputTokens: usage.inputTokens ?? 0,
      ...(usage.inputTokenDetails.cacheReadTokens && {
        cachedInputTokens: usage.inputTokenDetails.cacheReadTokens,
      }),
      outputTokens: usage.outputTokens ?? 0,
      totalTokens: usage.totalTokens ?? 0,
    },
    finishReason,
    modelId,
  };
  return inStoredOrder(JSON.parse(storableJson(answer)));
}
