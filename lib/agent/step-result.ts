import type { ModelMessage } from "ai";

/** What one model call answered, in the form that the next call is given. */
export interface StepResult {
  /** The results of the previous step's tools, then the answer. */
  readonly messages: ModelMessage[];
  /** Calls to run before the next model call. */
  readonly calls: readonly ToolCall[];
  /** Some call was malformed: `messages` tells the model, which is to try again. */
  readonly hasInvalidCall: boolean;
  readonly usage: Usage;
  readonly finishReason: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}
