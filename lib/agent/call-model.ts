import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { APICallError, type ModelMessage, type UIMessageChunk } from "ai";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { log as serverLog } from "../platform/log.ts";
import { type ContextState, promptOf } from "./context.ts";
import { type Messages, unitsOf } from "./conversation.ts";
import { describeFailure, tooLong } from "./describe-failure.ts";
import { budgetRefusalIn } from "./models/budget-refusal.ts";
import { subagentPrompt, systemPrompt } from "./prompt.ts";
import type { StepResult } from "./step-result.ts";
import { type Answer, streamAnswer } from "./stream-answer.ts";
import { type ToolOptions, toolSchemas } from "./tools/index.ts";
import { inStoredOrder, storableJson } from "./tools/make-storable.ts";

/** How often an answer whose stream breaks is requested. */
const MAX_STREAM_ATTEMPTS = 3;

/** The part of a turn's state that a model call needs. */
export interface Conversation extends Messages, ToolOptions {
  readonly model_id: string;
  readonly artist_id: string | null;
  readonly instructions: string | null;
  /** What the model gets of the conversation. */
  readonly context: ContextState;
}

interface Call {
  readonly turnId: string;
  readonly turn: Conversation;
  /** The results of the turn's earlier model calls. */
  readonly steps: readonly StepResult[];
  /** What follows the last of them: the results of its tools, or a request to submit the output. */
  readonly results: readonly ModelMessage[];
  /** The model of the turn, which shares the slots of model calls. */
  readonly model: LanguageModelV4;
  /** As of `cacheOptions` of the provider of models. */
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  readonly signal: AbortSignal;
  readonly write: (chunk: UIMessageChunk) => void;
}

export interface FailedCall {
  /** May be shown. */
  readonly error: string;
  /** Present when the model has rejected the request as too long: its window in tokens, if it was named. */
  readonly exceeded?: { readonly window: number | null };
}

export const instructionsFor = (turn: Omit<Conversation, "context">): string =>
  turn.subagent
    ? subagentPrompt()
    : systemPrompt({
        headless: turn.headless,
        submitsOutput: Boolean(turn.output_schema),
        ...(turn.artist_id === null ? {} : { artistId: turn.artist_id }),
        ...(turn.instructions === null ? {} : { instructions: turn.instructions }),
      });

/**
 * Calls the model and streams its answer with `write`.
 * @returns the answer for the next call, or the failure, also when `signal` has aborted. Throws only errors
 * of `write`.
 */
export async function callModel({
  turnId,
  turn,
  steps,
  results,
  model,
  providerOptions,
  signal,
  write,
}: Call): Promise<StepResult | FailedCall> {
  const tools = toolSchemas(turn);
  const messages = promptOf(await unitsOf(turn, steps, results, tools), turn.context);
  for (let attempt = 1; ; attempt++) {
    const unread = new AbortController();
    const answer = await streamAnswer({
      model,
      instructions: instructionsFor(turn),
      messages,
      tools,
      providerOptions,
      signal: AbortSignal.any([signal, unread.signal]),
      write,
    }).catch((error: unknown) => {
      // An unread answer would keep its connection and its slot.
      unread.abort();
      throw error;
    });
    if (signal.aborted) return { error: describeFailure(undefined) };
    if (!("failure" in answer)) return toStepResult(answer, results);
    const { failure } = answer;
    const error = describeFailure(failure);
    if (isQueueRefusal(failure) || budgetRefusalIn(failure)) return { error };
    const exceeded = tooLong(failure);
    if (exceeded) return { error, exceeded };
    serverLog().warn(
      { err: failure, turnId, modelId: turn.model_id, attempt },
      "model call failed",
    );
    // A call that fails before its answer starts was repeated already, but not a stream that breaks.
    if (attempt >= MAX_STREAM_ATTEMPTS || !isConnectionLoss(failure)) return { error };
    write({ type: "reset-step" });
  }
}

function toStepResult(
  { messages, calls, usage, finishReason }: Answer,
  results: readonly ModelMessage[],
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
  };
  return inStoredOrder(JSON.parse(storableJson(answer)));
}

const isConnectionLoss = (error: unknown): boolean =>
  APICallError.isInstance(error) ? error.isRetryable : error instanceof TypeError;
