/** Makes the requests of a turn fit into the context of its model. */

import { type FailedCall, instructionsFor } from "@platform/agent/call-model";
import {
  budgetOf,
  type ContextState,
  dropOldest,
  fixedTokens,
  planCompaction,
  promptOf,
  tokensOf,
} from "@platform/agent/context";
import { type Unit, unitsOf } from "@platform/agent/conversation";
import type { StepResult } from "@platform/agent/step-result";
import { toolSchemas } from "@platform/agent/tools";
import type { ModelMessage } from "ai";
import type { Parts } from "../parts.ts";
import { canReachWeb } from "../platform/config.ts";
import type { UsageEntry } from "../running-turn/measure-step.ts";
import { contextSize, type ModelCallParts } from "../running-turn/model-call.ts";
import {
  type ActiveTurn,
  type Compaction,
  type Reservation,
  reservesCalls,
} from "../running-turn/state.ts";
import { recordUsage } from "../running-turn/store.ts";
import { openSandbox, writeFiles } from "../running-turn/turn-sandbox.ts";
import { recordCompaction } from "./store.ts";
import { writeSummary } from "./write-summary.ts";

/** The parts of the service that make requests fit. */
export type ContextParts = ModelCallParts & Parts<"db" | "contextWindows" | "sandboxes">;

export interface ContextRequest {
  readonly turnId: string;
  readonly turn: ActiveTurn;
  /** The results of the turn's model calls so far. */
  readonly steps: readonly StepResult[];
  /** The messages that follow the last unit: the results of its tools, and a note of the platform, if any. */
  readonly results: readonly ModelMessage[];
  /** Of the step, which makes a summary before its own call. */
  readonly reservation: Reservation;
  readonly signal: AbortSignal;
  /** How often the request of this step was compacted before. */
  readonly pass: number;
  /** Present if the model has rejected the request as too long. */
  readonly rejected: FailedCall["exceeded"];
}

/** How often the request of a step is compacted because the model says that it is too long. */
const MAX_PASSES = 3;
/** A request of fewer tokens fits into any model's context, so no window has to be looked up. */
const SMALL_REQUEST_TOKENS = 4_000;
/** With less room than this, messages are dropped without a summary, which would leave no room for them. */
export const MIN_ROOM_TOKENS = 2_000;
/** The assumed share of a window that a model does not name: its rejection shows that it is smaller. */
const ASSUMED_SHARE = 0.7;

export interface Fitted {
  /** The context sent to the model. */
  readonly state: ContextState;
  /** The compaction that was made for it, if any. */
  readonly made?: Compaction;
}

/**
 * Compacts the conversation if the request takes more than three quarters of the budget. The decision is
 * recorded before it is used, so a repeated step and every later turn get the same messages.
 * @throws the reason of `signal`, a refusal of the budget, or an error of the database
 */
export async function fitContext(app: ContextParts, request: ContextRequest): Promise<Fitted> {
  const { turn, turnId, steps, results, signal, rejected } = request;
  const tools = toolSchemas(turn, [...steps.flatMap((step) => step.messages), ...results]);
  const units = await unitsOf(turn, steps, results, tools);
  const state = turn.compaction?.state ?? {};
  const fixed = await fixedTokens(instructionsFor(turn, canReachWeb()), tools);
  const estimate = (tried: ContextState) => fixed + tokensOf(promptOf(units, tried));
  const estimated = estimate(state);
  const last = units.at(-1);
  const added = last?.role === "user" ? [...results, ...last.messages] : results;
  let tokens = measured(steps, added) ?? estimated;
  const isSmall = tokens < SMALL_REQUEST_TOKENS && turn.context_limit === null;
  if (isSmall && !rejected) return { state };
  let window = Number.POSITIVE_INFINITY;
  if (rejected) {
    const assumed = Math.floor(Math.max(tokens, estimated) * ASSUMED_SHARE);
    window = rejected.window ?? Math.max(assumed, rejected.answered);
    // An assumption from a small request would make every chat of the account forget.
    if (rejected.window !== null) {
      app.contextWindows.learn(turn.account_id, rejected.modelId, rejected.window);
    }
    // The request does not fit, whatever the estimate.
    tokens = Math.max(tokens, window);
  }
  const known = await contextSize(app, turn);
  const budget = budgetOf(Math.min(known.window, window), turn.context_limit);
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
    const text = await summarizeFor(app, request, plan.units, budget, usage);
    next = { ...plan.state, summary: { text, to: plan.to } };
  }
  const { kind } = plan;
  const covered = (plan.kind === "cleared" ? plan.state.clearedTo : plan.to)?.messageId;
  const made = await recordCompaction(
    app.db,
    { accountId: turn.account_id, turnId, load: turn.load },
    { kind, state: next, tokensBefore: tokens, tokensAfter: Math.min(tokens, estimate(next)) },
    covered ?? turn.message_id,
    request.reservation.releaseWith(usage),
    turn.subagent?.callId ?? null,
  );
  signal.throwIfAborted();
  return { state: next, made };
}

/**
 * Calls a model with a request that fits, and again with a smaller one while the model rejects it as too long.
 * @param choose returns the context for this pass, from 0 on; the same one again if nothing can be dropped
 */
export async function callWithinContext<C extends { readonly answer: StepResult | FailedCall }>(
  choose: (pass: number, rejected: FailedCall["exceeded"]) => Promise<ContextState>,
  call: (context: ContextState) => Promise<C>,
): Promise<C> {
  let context = await choose(0, undefined);
  for (let pass = 1; ; pass++) {
    const called = await call(context);
    const exceeded = "error" in called.answer ? called.answer.exceeded : undefined;
    if (!exceeded || pass > (exceeded.isSuspected ? 1 : MAX_PASSES)) return called;
    const smaller = await choose(pass, exceeded);
    if (smaller === context) return called;
    context = smaller;
  }
}

/** Returns the tokens of the request: the model's report for the last one, and an estimate of the additions. */
function measured(
  steps: readonly StepResult[],
  added: readonly ModelMessage[],
): number | undefined {
  const { inputTokens = 0, outputTokens = 0, estimated } = steps.at(-1)?.usage ?? {};
  return inputTokens > 0 && !estimated ? inputTokens + outputTokens + tokensOf(added) : undefined;
}

async function summarizeFor(
  app: ContextParts,
  { turn, turnId, steps, signal, pass, reservation }: ContextRequest,
  units: readonly Unit[],
  budget: number,
  usage: UsageEntry[],
): Promise<string> {
  const key = { accountId: turn.account_id, turnId, load: turn.load };
  const { step = steps.length, place = 0 } = turn.subagent ?? {};
  // Unique in the turn, even if another process repeats the step.
  const firstCall = ((turn.load * 100 + steps.length) * 10 + pass) * 30;
  const reserve = reservesCalls(turn) ? reservation.reserve : undefined;
  const request = { turnId, turn, units, budget, signal, reserve, step, place, firstCall };
  try {
    return await writeSummary(app, request, usage);
  } catch (error) {
    // Usage until the failure counts.
    if (usage.length > 0) await recordUsage(app.db, key, reservation.releaseWith(usage));
    throw error;
  }
}
