import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { RunOptions } from "@platform/endpoint/contract/run-options";
import type { Sandbox } from "@platform/sandbox/port";
import { describeSkills, type TurnSkills } from "@platform/skills/prompt-skills";
import type { ModelMessage, UIMessageChunk } from "ai";
import { type ContextState, fixedTokens, promptOf, tokensOf } from "./context.ts";
import { type Messages, unitsOf } from "./conversation.ts";
import { describeFailure, mayBeTooLong, tooLong } from "./describe-failure.ts";
import { type Memory, subagentPrompt, systemPrompt } from "./prompt.ts";
import { digestsOf } from "./sent-request.ts";
import { markChunk, markMessages, signedFor } from "./signed-parts.ts";
import type { SentRequest, SentStep, StepResult } from "./step-result.ts";
import { type Answer, streamAnswer } from "./stream-answer.ts";
import { withImages } from "./tool-images.ts";
import { type ToolOptions, toolSchemas } from "./tools/index.ts";
import { inStoredOrder, storableJson } from "./tools/make-storable.ts";
import { type Models, tryModels } from "./try-models.ts";

/** The part of a turn's state that a model call needs. */
export interface Conversation extends Messages, ToolOptions {
  readonly model_id: string;
  readonly instructions: string | null;
  readonly workspace: Memory;
  readonly options: RunOptions;
  readonly skills: TurnSkills;
  /** The context sent to the model. */
  readonly context: ContextState;
  /** The newest compaction of the conversation. */
  readonly compaction?: { readonly id: number } | null;
}

interface Call extends Models {
  readonly turn: Conversation;
  /** Whether commands of its sandbox reach public hosts. */
  readonly canReachWeb: boolean;
  /** The results of the turn's earlier model calls. */
  readonly steps: readonly StepResult[];
  /** The messages that follow the last unit: the results of its tools, and a note of the platform, if any. */
  readonly results: readonly ModelMessage[];
  /** Options from the provider's `cacheOptions`. */
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  /** Has the images of the results; absent before there are any. */
  readonly sandbox?: Sandbox | undefined;
  readonly signal: AbortSignal;
  readonly write: (chunk: UIMessageChunk) => void;
}

interface Exceeded {
  readonly modelId: string;
  /** The window of the model in tokens, if it was named. */
  readonly window: number | null;
  /** The tokens of the largest request that the model has answered. */
  readonly answered: number;
  /** Whether only the size of the request says so, and not the words of the model. */
  readonly isSuspected: boolean;
}

/** A shorter conversation fits into the context of any model. */
const SMALL_CONVERSATION_TOKENS = 2_000;
/** How many times as large as estimated a request may be, by the count of its model. */
const ESTIMATE_TOLERANCE = 1.25;
/** No model for agents has a smaller window. Numbers of errors look alike. */
const MIN_WINDOW_TOKENS = 4_000;

export interface FailedCall {
  /** May be shown. */
  readonly error: string;
  /** Present when a model has rejected the request as too long, or may have. */
  readonly exceeded?: Exceeded;
  /** Absent if the model was not called. */
  readonly sent?: SentStep;
}

/** Returns the part of the instructions that is about skills. */
export const skillsTextOf = (
  turn: Pick<Conversation, "skills" | "options" | "subagent">,
): string => (turn.subagent ? "" : describeSkills(turn.skills, turn.options.skills));

/** @param canReachWeb whether commands reach public hosts */
export const instructionsFor = (
  turn: Omit<Conversation, "context">,
  canReachWeb: boolean,
): string =>
  turn.subagent
    ? subagentPrompt()
    : systemPrompt({
        headless: turn.headless,
        submitsOutput: Boolean(turn.output_schema),
        skills: skillsTextOf(turn),
        workspace: { ...turn.workspace, use: turn.options.workspace ?? "write" },
        canSearch: turn.options.web_search === true,
        limits: turn.options.limits,
        canReachWeb,
        ...(turn.instructions === null ? {} : { instructions: turn.instructions }),
      });

/**
 * Calls the model, or a fallback while it fails, and streams the answer with `write`. Each repetition starts with
 * a `reset-step` chunk.
 * @returns the answer for the next call, or the failure, including when `signal` has aborted.
 * Throws only errors of `write`.
 */
export async function callModel({
  turn,
  canReachWeb,
  steps,
  results,
  providerOptions,
  sandbox,
  signal,
  write,
  ...models
}: Call): Promise<StepResult | FailedCall> {
  const tools = toolSchemas(turn, [...steps.flatMap((step) => step.messages), ...results]);
  const prompt = promptOf(await unitsOf(turn, steps, results, tools), turn.context);
  const messages = sandbox ? await withImages(prompt, sandbox) : prompt;
  const instructions = instructionsFor(turn, canReachWeb);
  const { effort, temperature, max_output_tokens: maxOutputTokens } = turn.options;
  const reset = () => write({ type: "reset-step" });
  let isEmpty = true;
  const { modelId, answer } = await tryModels(
    models,
    signal,
    async ({ model, modelId: id, maxRetries }) => {
      const unread = new AbortController();
      isEmpty = true;
      return await streamAnswer({
        model,
        instructions,
        messages: signedFor(messages, id),
        tools,
        providerOptions,
        ...(effort && { reasoning: effort }),
        ...{ temperature, maxOutputTokens },
        maxRetries,
        signal: AbortSignal.any([signal, unread.signal]),
        write: (chunk) => {
          isEmpty = false;
          write(markChunk(chunk, id));
        },
      }).catch((error: unknown) => {
        // An unread answer would keep its connection and its slot.
        unread.abort();
        throw error;
      });
    },
    reset,
  );
  const { clearedTo, reportsClearedTo, summary } = turn.context;
  const request: SentRequest = {
    ...(await digestsOf({ instructions, tools, messages: prompt })),
    ...(turn.compaction && { compaction: turn.compaction.id }),
    ...(clearedTo && { clearedTo }),
    ...(reportsClearedTo && { reportsClearedTo }),
    ...(summary && { summarizedTo: summary.to }),
  };
  const size = (await fixedTokens(instructions, tools)) + tokensOf(prompt);
  if (!signal.aborted && !("failure" in answer)) {
    models.outages.recordSize(modelId, size);
    return { ...toStepResult(answer, results, modelId), request };
  }
  const sent = asStored({ messages: [...results], request });
  if (signal.aborted || !("failure" in answer)) return { error: describeFailure(undefined), sent };
  const error = describeFailure(answer.failure);
  const exceeded = exceededIn(answer.failure, modelId, { prompt, size, outages: models.outages });
  if (!exceeded) return { error, sent };
  // A request that fits is made within the same step.
  if (!isEmpty) reset();
  return { error, exceeded, sent };
}

/** Returns how a model has rejected a request as too long; undefined for another failure. */
function exceededIn(
  failure: unknown,
  modelId: string,
  { prompt, size, outages }: { prompt: ModelMessage[]; size: number } & Pick<Models, "outages">,
): Exceeded | undefined {
  const said = tooLong(failure);
  const answered = outages.largestAnswered(modelId);
  if (said) {
    const isLikely = (window: number) =>
      window > Math.max(answered, MIN_WINDOW_TOKENS) && window <= size * ESTIMATE_TOLERANCE;
    const window = said.windows.find(isLikely) ?? null;
    return { modelId, window, answered, isSuspected: false };
  }
  if (!mayBeTooLong(failure) || tokensOf(prompt) < SMALL_CONVERSATION_TOKENS) return undefined;
  if (!outages.suspectSize(modelId, size)) return undefined;
  return { modelId, window: null, answered, isSuspected: true };
}

function toStepResult(
  { messages, calls, usage, finishReason }: Answer,
  results: readonly ModelMessage[],
  modelId: string,
): StepResult {
  const answer: StepResult = {
    messages: [...results, ...markMessages(messages, modelId)],
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
  return asStored(answer);
}

const asStored = <T extends object>(value: T): T => inStoredOrder(JSON.parse(storableJson(value)));
