import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type ModelUse, meterModel } from "../agent/models/meter-model.ts";
import type { StepResult } from "../agent/step-result.ts";
import { services } from "../platform/services.ts";

/** What one model call of a turn has used, under the key by which it is recorded once. */
export interface UsageEntry {
  /** The index of the step. */
  readonly step: number;
  /** 0 for the step's own model call; for a subagent, the place of its tool call, from 1. */
  readonly tool: number;
  /** The number of the call among those of the step or the subagent, from 0. */
  readonly call: number;
  readonly model_id: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  readonly estimated: boolean;
}

export const toUsageEntry = (
  place: Pick<UsageEntry, "step" | "tool" | "call">,
  use: ModelUse,
): UsageEntry => ({
  ...place,
  model_id: use.modelId,
  input_tokens: use.inputTokens,
  output_tokens: use.outputTokens,
  cost_usd: use.costUsd,
  estimated: use.estimated,
});

/** A step as it is recorded: its result with the trace, and what its model calls have used. */
export interface MeasuredStep {
  readonly index: number;
  readonly result: StepResult;
  readonly usage: readonly UsageEntry[];
}

export interface StepMeasure {
  /** The model, whose calls are measured. */
  readonly model: LanguageModelV4;
  /** Ends the step with its answer. */
  readonly complete: (answer: StepResult) => Promise<MeasuredStep>;
  /** Ends a step without an answer. */
  readonly fail: (finishReason: string) => Promise<MeasuredStep>;
}

/** @param earlierAttempts how often processes that died have begun this step */
export function measureStep(index: number, modelId: string, earlierAttempts: number): StepMeasure {
  const startedAt = new Date().toISOString();
  const meter = meterModel(services().models.resolve(modelId), modelId);
  const measured = async (resultOf: (uses: readonly ModelUse[]) => StepResult) => {
    const finishedAt = new Date().toISOString();
    const uses = await meter.uses();
    const attempts = earlierAttempts + meter.calls();
    const trace = { startedAt, finishedAt, modelId, attempts, costUsd: sumOfCosts(uses) };
    return {
      index,
      result: { ...resultOf(uses), trace },
      usage: uses.map((use, call) => toUsageEntry({ step: index, tool: 0, call }, use)),
    };
  };
  return {
    model: meter.model,
    complete: (answer) => measured(() => answer),
    fail: (finishReason) =>
      measured((uses) => {
        const sum = (count: (use: ModelUse) => number) =>
          uses.reduce((total, use) => total + count(use), 0);
        const inputTokens = sum((use) => use.inputTokens);
        const outputTokens = sum((use) => use.outputTokens);
        const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
        return { messages: [], calls: [], hasInvalidCall: false, usage, finishReason };
      }),
  };
}

function sumOfCosts(uses: readonly ModelUse[]): number | null {
  const known = uses.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return known.length === 0 ? null : known.reduce((total, cost) => total + cost, 0);
}
