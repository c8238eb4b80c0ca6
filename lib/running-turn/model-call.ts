import { AsyncLocalStorage } from "node:async_hooks";
import { callModel, type FailedCall } from "@platform/agent/call-model";
import { budgetOf, type ContextState } from "@platform/agent/context";
import type { ContextWindows } from "@platform/agent/models/context-windows";
import { type ModelOutages, modelsOf } from "@platform/agent/models/model-outages";
import type { ModelProvider } from "@platform/agent/models/port";
import { shareModel } from "@platform/agent/models/share-model";
import type { StepResult } from "@platform/agent/step-result";
import { imagesMessage } from "@platform/agent/tool-images";
import { estimateTokens } from "@platform/agent/tool-results";
import { continueTrace, traceparent } from "@platform/kit/telemetry/spans";
import type { Sandbox } from "@platform/sandbox/port";
import type { ModelMessage, ToolModelMessage, UIMessageChunk } from "ai";
import { acceptsInput } from "../models/list-models.ts";
import { canReachWeb } from "../platform/config.ts";
import type { Queues } from "../platform/queues.ts";
import { measureStep, type StepMeasure } from "./measure-step.ts";
import { type ActiveTurn, reservesCalls, type TurnState } from "./state.ts";
import { hasFiles } from "./store-files.ts";

export interface ModelCallOptions {
  readonly turnId: string;
  readonly turn: TurnState;
  /** The context sent to the model. */
  readonly context: ContextState;
  /** The results of the turn's earlier model calls. */
  readonly steps: readonly StepResult[];
  /** The messages that follow the last unit: the results of its tools, and a note of the platform, if any. */
  readonly results: readonly ModelMessage[];
  /** As in `callModel`. */
  readonly sandbox?: Sandbox | undefined;
  /** The measure of the step, if its request was made before and is made again in another form. */
  readonly measure?: StepMeasure | undefined;
  /** How often processes that died have started this call. */
  readonly earlierAttempts: number;
  /** As in `measureStep`. */
  readonly reserve?: ((estimateUsd: number | null, spentUsd: number) => Promise<void>) | undefined;
}

/** The parts of the service that a model call uses. */
export interface ModelCallParts {
  readonly modelOutages: ModelOutages;
  readonly models: ModelProvider;
  readonly queues: Queues;
}

/** Returns the models that may answer in a turn, as `callModel` takes them. */
export const answeringModels = (
  { modelOutages, models, queues }: ModelCallParts,
  turnId: string,
  turn: Pick<TurnState, "account_id" | "chat_id" | "model_id" | "options">,
  measure: Pick<StepMeasure, "open">,
) => ({
  turnId,
  modelIds: modelsOf(models, turn),
  open: (modelId: string) => shareModel(queues.modelCalls, measure.open(modelId), turn.account_id),
  outages: modelOutages,
  providerOptions: models.cacheOptions?.(turn.chat_id),
});

/**
 * Returns the smallest window of the models that may answer in the turn, and the budget of a request, both in tokens.
 */
export async function contextSize(
  { contextWindows, models }: Readonly<{ contextWindows: ContextWindows; models: ModelProvider }>,
  turn: Pick<ActiveTurn, "account_id" | "context_limit" | "model_id" | "options">,
): Promise<{ readonly window: number; readonly budget: number }> {
  const window = await contextWindows.of(turn.account_id, modelsOf(models, turn));
  return { window, budget: budgetOf(window, turn.context_limit) };
}

/** Returns the results, followed by their images if each model that may answer reads images. */
export async function resultsWithImages(
  { models }: Pick<ModelCallParts, "models">,
  turn: Pick<TurnState, "chat_id" | "model_id" | "options">,
  results: ToolModelMessage | null,
  steps: readonly StepResult[],
): Promise<ModelMessage[]> {
  const images = imagesMessage(results, steps);
  const isShown = images && (await acceptsInput(models, modelsOf(models, turn), "image"));
  return [...(results ? [results] : []), ...(isShown ? [images] : [])];
}

/** A turn outlives the request that starts it, so it must not inherit that request's context. */
const outsideOfRequests = AsyncLocalStorage.snapshot();

/**
 * A model call of a turn, which starts at once. Its chunks are kept until a step streams them, because
 * the first call of a turn starts before the run that commits them.
 */
export class ModelCall {
  readonly measure: StepMeasure;
  readonly context: ContextState;
  readonly #answer: Promise<StepResult | FailedCall>;
  readonly #cancelled = new AbortController();
  #kept: UIMessageChunk[] = [];
  #write: ((chunk: UIMessageChunk) => void) | undefined;

  constructor(app: ModelCallParts, options: ModelCallOptions) {
    const { turnId, turn, context, steps, results, sandbox, earlierAttempts, reserve } = options;
    this.context = context;
    const measure =
      options.measure ?? measureStep(app, steps.length, turn.model_id, earlierAttempts, reserve);
    this.measure = measure;
    const start = () =>
      callModel({
        turn: { ...turn, context },
        canReachWeb: canReachWeb(),
        steps,
        results,
        sandbox,
        ...answeringModels(app, turnId, turn, measure),
        signal: this.#cancelled.signal,
        write: (chunk) => (this.#write ? this.#write(chunk) : void this.#kept.push(chunk)),
      });
    const trace = traceparent();
    this.#answer = outsideOfRequests(() => continueTrace(trace, start));
    // A failure is reported by `stream`, which may come later.
    this.#answer.catch(() => {});
  }

  /**
   * Writes the chunks of the answer, starting with the ones that have already arrived.
   * @returns as `callModel`, including when `signal` aborts
   * @throws only errors of `write`
   */
  stream(
    write: (chunk: UIMessageChunk) => void,
    signal: AbortSignal,
  ): Promise<StepResult | FailedCall> {
    const cancel = () => this.cancel();
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel);
    const forget = () => signal.removeEventListener("abort", cancel);
    this.#answer.then(forget, forget);
    try {
      for (const chunk of this.#kept) write(chunk);
    } catch (error) {
      this.cancel();
      throw error;
    }
    this.#kept = [];
    this.#write = write;
    return this.#answer;
  }

  cancel(): void {
    this.#cancelled.abort();
  }
}

/** A shorter history fits into the context of any model, as far as one can know without its window. */
const SHORT_HISTORY_TOKENS = 4_000;

function isShort(history: TurnState["history"]): boolean {
  let tokens = 0;
  for (const { parts } of history) {
    for (const part of parts) {
      tokens += estimateTokens(JSON.stringify(part));
      if (tokens > SHORT_HISTORY_TOKENS) return false;
    }
  }
  return true;
}

/**
 * Starts the first model call of a turn, which need not wait for its run. Its first step streams the
 * answer, or calls the model itself if this process dies before. A call that reserves its cost, needs files
 * in the sandbox, or may have to be compacted is left to the step.
 */
export function startFirstCall(
  app: ModelCallParts,
  turnId: string,
  turn: TurnState,
): ModelCall | undefined {
  if (reservesCalls(turn) || turn.context_limit !== null) return undefined;
  if (hasFiles(turn.history) || !isShort(turn.history)) return undefined;
  const context = turn.compaction?.state ?? {};
  const options = { turnId, turn, context, steps: [], results: [], earlierAttempts: 0 };
  return new ModelCall(app, options);
}
