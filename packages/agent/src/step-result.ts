import type { ModelMessage } from "ai";
import type { RequestDigests } from "./sent-request.ts";

/** The answer of one model call, in the form that the next call needs. */
export interface StepResult {
  /** The tool results of the previous step, then the answer. */
  readonly messages: ModelMessage[];
  /** The tool calls to run before the next model call. */
  readonly calls: readonly ToolCall[];
  /** Whether a tool call was malformed. `messages` says so, and the model is called again. */
  readonly hasInvalidCall: boolean;
  readonly usage: Usage;
  readonly finishReason: string;
  /** The id of the model that was called, which may be a fallback; absent without an answer. */
  readonly modelId?: string;
  /** Absent in results of versions that recorded none, as is `trace`. */
  readonly request?: SentRequest;
  readonly trace?: StepTrace;
}

interface Place {
  readonly messageId: string;
  readonly step: number;
}

/** The record of a request. The places are as in `ContextState`. */
export interface SentRequest extends RequestDigests {
  /** The id of the compaction whose summary the model got. */
  readonly compaction?: number;
  readonly clearedTo?: Place;
  readonly reportsClearedTo?: Place;
  readonly summarizedTo?: Place;
}

/** A call without an answer: the results that it was sent, and its request. */
export type SentStep = Pick<StepResult, "messages" | "request">;

/** How the model call went. */
interface StepTrace {
  /** ISO 8601, as is `finishedAt`. */
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The model that answered. */
  readonly modelId: string;
  /** How often the model was called until it answered, in all processes. */
  readonly attempts: number;
  /** Null when the price of a call is not known. */
  readonly costUsd: number | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Usage {
  readonly inputTokens: number;
  /** Those of `inputTokens` that the provider had cached; absent where there are none. */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** The model has reported none. */
  readonly estimated?: true;
}
