import type { LanguageModelV4 } from "@ai-sdk/provider";
import {
  APICallError,
  convertToModelMessages,
  isToolUIPart,
  type ModelMessage,
  type ToolModelMessage,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { log as serverLog } from "../platform/log.ts";
import { describeFailure } from "./describe-failure.ts";
import { limitContext } from "./limit-context.ts";
import { budgetRefusalIn } from "./models/budget-refusal.ts";
import { systemPrompt } from "./prompt.ts";
import type { StepResult } from "./step-result.ts";
import { type Answer, streamAnswer } from "./stream-answer.ts";
import { toolSchemas } from "./tools/index.ts";
import { storableJson } from "./tools/make-storable.ts";

/** How often an answer whose stream breaks is requested. */
const MAX_STREAM_ATTEMPTS = 3;

/** The part of a turn's state that a model call needs. */
interface Conversation {
  readonly model_id: string;
  readonly headless: boolean;
  readonly artist_id: string | null;
  readonly instructions: string | null;
  /** The caller's limit in tokens; null for none. */
  readonly context_limit: number | null;
  /** The messages before this turn, and the one that it answers. */
  readonly history: readonly UIMessage[];
}

interface Call {
  readonly turnId: string;
  readonly turn: Conversation;
  /** The results of the turn's earlier model calls. */
  readonly steps: readonly StepResult[];
  /** The results of the tools that the last of them called. */
  readonly results: readonly ToolModelMessage[];
  /** The model of the turn, which shares the slots of model calls. */
  readonly model: LanguageModelV4;
  readonly signal: AbortSignal;
  readonly write: (chunk: UIMessageChunk) => void;
}

/**
 * Calls the model and streams its answer with `write`.
 * @returns the answer for the next call; after a failure, and also when `signal` has aborted, the text of
 * an error that may be shown. Throws only errors of `write`.
 */
export async function callModel({
  turnId,
  turn,
  steps,
  results,
  model,
  signal,
  write,
}: Call): Promise<StepResult | { readonly error: string }> {
  const tools = toolSchemas({ headless: turn.headless });
  const messages = limitContext(
    [
      ...(await convertHistory(turn.history, tools)),
      ...steps.flatMap((each) => each.messages),
      ...results,
    ],
    turn.context_limit ?? undefined,
  );
  for (let attempt = 1; ; attempt++) {
    const unread = new AbortController();
    const answer = await streamAnswer({
      model,
      instructions: systemPrompt({
        headless: turn.headless,
        ...(turn.artist_id === null ? {} : { artistId: turn.artist_id }),
        ...(turn.instructions === null ? {} : { instructions: turn.instructions }),
      }),
      messages,
      tools,
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
    serverLog().warn(
      { err: failure, turnId, modelId: turn.model_id, attempt },
      "model call failed",
    );
    // A call that fails before its answer starts was repeated already, but not a stream that breaks.
    if (attempt >= MAX_STREAM_ATTEMPTS || !isConnectionLoss(failure)) return { error };
    write({ type: "reset-step" });
  }
}

/** The model calls of a turn in this process share its history, which is converted once. */
const convertedHistories = new WeakMap<readonly UIMessage[], Promise<ModelMessage[]>>();

function convertHistory(history: readonly UIMessage[], tools: ToolSet): Promise<ModelMessage[]> {
  const known = convertedHistories.get(history);
  if (known) return known;
  const converted = convertToModelMessages(closeOpenCalls(history), { tools });
  convertedHistories.set(history, converted);
  return converted;
}

function toStepResult(
  { messages, calls, usage, finishReason }: Answer,
  results: readonly ToolModelMessage[],
): StepResult {
  const answer: StepResult = {
    messages: [...results, ...messages],
    calls: calls
      .filter((call) => !call.invalid)
      .map((call) => ({ id: call.toolCallId, name: call.toolName, input: call.input })),
    hasInvalidCall: calls.some((call) => call.invalid),
    usage: {
      inputTokens: usage.inputTokens ?? 0,
      outputTokens: usage.outputTokens ?? 0,
      totalTokens: usage.totalTokens ?? 0,
    },
    finishReason,
  };
  return JSON.parse(storableJson(answer));
}

const isConnectionLoss = (error: unknown): boolean =>
  APICallError.isInstance(error) ? error.isRetryable : error instanceof TypeError;

/**
 * Adds a result to every tool call that has none, because models reject such a conversation. An
 * open call in a stored conversation is a question that the user ignored, or a call that was cut
 * off.
 */
function closeOpenCalls(messages: readonly UIMessage[]): UIMessage[] {
  return messages
    .map((message) => ({ ...message, parts: message.parts.map(closed) }))
    .filter((message) => message.parts.some((part) => part.type !== "step-start"));
}

type Part = UIMessage["parts"][number];

function closed(part: Part): Part {
  if (!isToolUIPart(part)) return part;
  if (part.state === "output-available" || part.state === "output-error") return part;
  const result =
    part.type === "tool-ask_user_question"
      ? { state: "output-available", output: { declined: true } }
      : { state: "output-error", errorText: "Not run" };
  // The SDK's union of part states cannot be changed one state at a time.
  return { ...part, ...result } as Part;
}
