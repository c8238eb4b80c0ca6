import type { LanguageModelV4 } from "@ai-sdk/provider";
import {
  type Meter,
  type Metering,
  type ModelUse,
  meterModel,
} from "@platform/agent/models/meter-model";
import type { ModelProvider } from "@platform/agent/models/port";
import type { SentStep, StepResult } from "@platform/agent/step-result";

/** The usage of one model call of a turn, with the key under which it is recorded once. */
export interface UsageEntry {
  /** The index of the step. */
  readonly step: number;
  /** 0 for the step's own model call; for a subagent, the place of its tool call, from 1. */
  readonly tool: number;
  /** The number of the call within the step or the subagent, from 0. */
  readonly call: number;
  readonly model_id: string;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  readonly estimated: boolean;
  /** The reservation for the call, which is released when the call is recorded. Default: 0. */
  readonly reserved_usd?: number;
}

/** Returns the cost in USD of the calls that have a price. */
const costOf = (usage: readonly UsageEntry[]): number =>
  usage.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);

const toUsageEntry = (
  place: Pick<UsageEntry, "step" | "tool" | "call">,
  use: ModelUse,
): UsageEntry => ({
  ...place,
  model_id: use.modelId,
  input_tokens: use.inputTokens,
  cached_input_tokens: use.cachedInputTokens,
  output_tokens: use.outputTokens,
  cost_usd: use.costUsd,
  estimated: use.estimated,
});

/**
 * Measures calls that are recorded one by one: of summaries and judges.
 * @param first where the first of them is recorded; the next ones follow it
 * @param reserve called before each call with its cost, if that is known, and the cost of the calls before it;
 * absent where nothing limits them. If it rejects, the call fails with the same error.
 * @param usage gets an entry for each call. It is complete once `ended` has resolved.
 */
export function measureCalls(
  { models }: Readonly<Record<"models", ModelProvider>>,
  first: Pick<UsageEntry, "step" | "tool" | "call">,
  reserve: ((estimateUsd: number | null, spentUsd: number) => Promise<void>) | undefined,
  usage: UsageEntry[],
) {
  const uses: Promise<ModelUse>[] = [];
  const metering: Metering = {
    uses,
    ...(reserve && { reserve: (estimateUsd) => reserve(estimateUsd, costOf(usage)) }),
    onUse: async (use) => {
      usage.push(toUsageEntry({ ...first, call: first.call + usage.length }, use));
    },
  };
  return {
    open: (modelId: string): LanguageModelV4 => meterModel(models, modelId, metering).model,
    ended: () => Promise.all(uses),
  };
}

/** A step as it is recorded: its result with the trace, and the usage of its model calls. */
export interface MeasuredStep {
  readonly index: number;
  readonly result: StepResult;
  readonly usage: readonly UsageEntry[];
}

export interface StepMeasure {
  /** Returns a model whose calls are measured. A step may call several. */
  readonly open: (modelId: string) => LanguageModelV4;
  /** Ends the step with its answer. */
  readonly complete: (answer: StepResult) => Promise<MeasuredStep>;
  /** Ends a step without an answer. Resolves with null if the model was not called. */
  readonly fail: (finishReason: string, sent?: SentStep) => Promise<MeasuredStep | null>;
}

/**
 * @param modelId the model of the turn, which a step names that has called none
 * @param earlierAttempts how often processes that died have started this step
 * @param reserve called before each model call with its cost, if that is known, and the cost of the
 * attempts before it; absent without a budget. If it rejects, the call fails with the same error.
 */
export function measureStep(
  { models }: Readonly<Record<"models", ModelProvider>>,
  index: number,
  modelId: string,
  earlierAttempts: number,
  reserve?: (estimateUsd: number | null, spentUsd: number) => Promise<void>,
): StepMeasure {
  const startedAt = new Date().toISOString();
  const pending: Promise<ModelUse>[] = [];
  const meters = new Map<string, Meter>();
  const open = (id: string): LanguageModelV4 => {
    const meter =
      meters.get(id) ??
      meterModel(models, id, {
        uses: pending,
        ...(reserve && {
          reserve: async (estimateUsd) => {
            const costs = (await Promise.all(pending)).map(({ costUsd }) => costUsd ?? 0);
            await reserve(
              estimateUsd,
              costs.reduce((total, cost) => total + cost, 0),
            );
          },
        }),
      });
    meters.set(id, meter);
    return meter.model;
  };
  const countAttempts = () =>
    [...meters.values()].reduce((total, meter) => total + meter.calls(), earlierAttempts);
  const measured = async (resultOf: (uses: readonly ModelUse[]) => StepResult) => {
    const finishedAt = new Date().toISOString();
    const uses = await Promise.all(pending);
    const result = resultOf(uses);
    const answeredBy = uses.at(-1)?.modelId ?? result.modelId ?? modelId;
    const costUsd = sumOfCosts(uses);
    const attempts = countAttempts();
    const trace = { startedAt, finishedAt, modelId: answeredBy, attempts, costUsd };
    return {
      index,
      result: { ...result, trace },
      usage: uses.map((use, call) => toUsageEntry({ step: index, tool: 0, call }, use)),
    };
  };
  return {
    open,
    complete: (answer) => measured((uses) => withEstimate(answer, uses.at(-1))),
    fail: async (finishReason, { messages, request } = { messages: [] }) => {
      if (countAttempts() === 0) return null;
      return measured((uses) => {
        const sum = (count: (use: ModelUse) => number) =>
          uses.reduce((total, use) => total + count(use), 0);
        const inputTokens = sum((use) => use.inputTokens);
        const outputTokens = sum((use) => use.outputTokens);
        const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
        return {
          ...{ messages, calls: [], hasInvalidCall: false, usage, finishReason },
          ...(request && { request }),
        };
      });
    },
  };
}

/** Returns the answer with the usage that counts for its call, if the model has reported none. */
function withEstimate(answer: StepResult, use: ModelUse | undefined): StepResult {
  if (!use?.estimated || answer.usage.inputTokens + answer.usage.outputTokens > 0) return answer;
  const { inputTokens, outputTokens } = use;
  const totalTokens = inputTokens + outputTokens;
  return { ...answer, usage: { inputTokens, outputTokens, totalTokens, estimated: true } };
}

/** Returns null if the cost of any call is unknown. */
const sumOfCosts = (uses: readonly ModelUse[]): number | null =>
  uses.reduce<number | null>(
    (total, { costUsd }) => (total === null || costUsd === null ? null : total + costUsd),
    0,
  );
