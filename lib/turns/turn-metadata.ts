import type { StepResult, Usage } from "../agent/step-result.ts";
import type { ActiveTurn, TurnMetadata } from "./store/turns.ts";

/** Returns the metadata of a turn that ends now, summed over its model calls. */
export function turnMetadata(
  turn: ActiveTurn,
  steps: readonly StepResult[],
  finishReason: string,
): TurnMetadata {
  const sum = (count: (usage: Usage) => number) =>
    steps.reduce((total, step) => total + count(step.usage), 0);
  return {
    modelId: turn.model_id,
    usage: {
      inputTokens: sum((usage) => usage.inputTokens),
      outputTokens: sum((usage) => usage.outputTokens),
      totalTokens: sum((usage) => usage.totalTokens),
    },
    durationMs: Math.max(0, Date.now() - Date.parse(turn.created_at)),
    finishReason,
  };
}

/** Returns the parts that the message had before this turn: a question and its answer. */
export function partsBefore(turn: ActiveTurn) {
  return turn.history.find((message) => message.id === turn.assistant_message_id)?.parts ?? [];
}
