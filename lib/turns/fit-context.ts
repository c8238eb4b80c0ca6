/** Makes the requests of a turn fit into the context of its model. */
import type { ToolModelMessage } from "ai";
import { type FailedCall, instructionsFor } from "../agent/call-model.ts";
import {
  budgetOf,
  type ContextState,
  dropOldest,
  fixedTokens,
  planCompaction,
  promptOf,
  tokensOf,
} from "../agent/context.ts";
import { type Unit, unitsOf } from "../agent/conversation.ts";
import { meterModel } from "../agent/models/meter-model.ts";
import { modelsOf } from "../agent/models/model-outages.ts";
import { shareModel } from "../agent/models/share-model.ts";
import type { StepResult } from "../agent/step-result.ts";
import { summarize } from "../agent/summarize.ts";
import { toolSchemas } from "../agent/tools/index.ts";
import type { App } from "../app.ts";
import { config } from "../platform/config.ts";
import { toUsageEntry, type UsageEntry } from "./measure-step.ts";
import { openSandbox, writeFiles } from "./run-tool-calls.ts";
import {
  type ActiveTurn,
  type Compaction,
  recordCompaction,
  recordUsage,
  reserveModelCall,
} from "./store/turns.ts";

export type ContextParts = Pick<
  App,
  "contextWindows" | "modelOutages" | "models" | "queues" | "sandboxes"
>;

export interface ContextRequest {
  readonly turnId: string;
  readonly turn: ActiveTurn;
  /** The results of the turn's model calls so far. */
  readonly steps: readonly StepResult[];
  /** The results of the tools that the last of them called. */
  readonly results: readonly ToolModelMessage[];
  readonly signal: AbortSignal;
  /** How often the request of this step was compacted before. */
  readonly pass: number;
  /** The model that has rejected the request as too long, if any. */
  readonly rejected?: FailedCall["exceeded"];
}

/** A request of fewer tokens fits into any model's context, so that no window has to be looked up. */
const SMALL_REQUEST_TOKENS = 4_000;
/** With less room than this, messages are dropped without a summary, which would leave no room for them. */
const MIN_ROOM_TOKENS = 2_000;
/** What is assumed of a window that a model does not name: its rejection shows that it is smaller. */
const ASSUMED_SHARE = 0.7;
/** The `tool` of summaries in usage entries, where 0 is the step's own call and a subagent's counts from 1. */
const SUMMARY_CALLS = -1;

export interface Fitted {
  /** What the model gets. */
  readonly state: ContextState;
  /** The compaction that was made for it, if any. */
  readonly made?: Compaction;
}

/**
 * Compacts the conversation if the request takes more than three quarters of the budget. What was decided
 * is recorded before anyone uses it, so a repeated step and every later turn get the same messages.
 * @throws the reason of `signal`, a refusal of the budget, or an error of the database
 */
export async function fitContext(app: ContextParts, request: ContextRequest): Promise<Fitted> {
  const { turn, turnId, steps, results, signal, rejected } = request;
  const tools = toolSchemas({ headless: turn.headless });
  const units = await unitsOf(turn, steps, results, tools);
  const state = turn.compaction?.state ?? {};
  const fixed = await fixedTokens(instructionsFor(turn), tools);
  const estimate = (tried: ContextState) => fixed + tokensOf(promptOf(units, tried));
  const estimated = estimate(state);
  let tokens = measured(steps, results) ?? estimated;
  const isSmall = tokens < SMALL_REQUEST_TOKENS && turn.context_limit === null;
  if (isSmall && !rejected) return { state };
  if (rejected) {
    const window = rejected.window ?? Math.floor(Math.max(tokens, estimated) * ASSUMED_SHARE);
    app.contextWindows.learn(rejected.modelId, window);
    // Whatever was estimated, it does not fit.
    tokens = Math.max(tokens, window);
  }
  const window = await app.contextWindows.of(modelsOf(app.models, turn));
  const budget = budgetOf(window, turn.context_limit);
  if (budget - fixed < MIN_ROOM_TOKENS) {
    return { state: dropOldest(units, state, budget - fixed) };
  }
  const plan = planCompaction(units, state, { tokens, estimated, budget });
  if (!plan) return { state };

  const usage: UsageEntry[] = [];
  let next: ContextState;
  if (plan.kind === "cleared") {
    await writeFiles(openSandbox(app, turn), plan.files);
    next = plan.state;
  } else {
    const text = await writeSummary(app, request, plan.units, budget, usage);
    next = { ...plan.state, summary: { text, to: plan.to } };
  }
  const { kind } = plan;
  const covered = (plan.kind === "cleared" ? plan.state.clearedTo : plan.to)?.messageId;
  const made = await recordCompaction(
    { accountId: turn.account_id, turnId, load: turn.load },
    { kind, state: next, tokensBefore: tokens, tokensAfter: Math.min(tokens, estimate(next)) },
    covered ?? turn.message_id,
    usage,
  );
  signal.throwIfAborted();
  return { state: next, made };
}

/** Returns the tokens of the request as the model has reported them for the last one, with what was added since. */
function measured(
  steps: readonly StepResult[],
  results: readonly ToolModelMessage[],
): number | undefined {
  const { inputTokens = 0, outputTokens = 0 } = steps.at(-1)?.usage ?? {};
  return inputTokens > 0 ? inputTokens + outputTokens + tokensOf(results) : undefined;
}

async function writeSummary(
  app: ContextParts,
  { turn, turnId, steps, signal, pass }: ContextRequest,
  units: readonly Unit[],
  budget: number,
  usage: UsageEntry[],
): Promise<string> {
  const [available] = app.modelOutages.available(modelsOf(app.models, turn));
  const modelId = config().SUMMARY_MODEL ?? available;
  const key = { accountId: turn.account_id, turnId, load: turn.load };
  let reserved = 0;
  const meter = meterModel(app.models, modelId, {
    ...(turn.has_budget && {
      reserve: async (estimateUsd) => {
        await reserveModelCall(key, { estimateUsd, spentUsd: 0, releasedUsd: reserved });
        reserved = estimateUsd ?? 0;
      },
    }),
    onUse: async (use) => {
      // Unique in the turn, also when another process makes the same step again.
      const place = {
        step: steps.length,
        tool: SUMMARY_CALLS,
        call: turn.load * 1_000 + pass * 100,
      };
      const entry = toUsageEntry({ ...place, call: place.call + usage.length }, use);
      usage.push({ ...entry, reserved_usd: reserved });
      reserved = 0;
    },
  });
  const model = shareModel(app.queues.modelCalls, meter.model, turn.account_id);
  const earlier = turn.compaction?.state.summary?.text;
  try {
    return await summarize({ model, units, earlier, budget, signal });
  } catch (error) {
    // What was used until then counts.
    await meter.uses();
    if (usage.length > 0) await recordUsage(key, usage);
    throw error;
  }
}
