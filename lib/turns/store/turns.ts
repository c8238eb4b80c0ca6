/** The queries of the durable run: it loads its turn, records its steps, and ends the turn. */

import type { ToolCall } from "@platform/agent/step-result";
import type { UIMessage } from "ai";
import { z } from "zod";
import { ModelCalls } from "../../budgets/reservations.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import type { MeasuredStep } from "../../running-turn/measure-step.ts";
import {
  type ActiveTurn,
  activeTurn,
  type KnownCall,
  knownCalls,
  stored,
  type TurnEnd,
  type TurnMetadata,
  type TurnState,
} from "../../running-turn/state.ts";
import { type LoadedTurnKey, refuseSuperseded } from "../../running-turn/turn-key.ts";

const loadedTurn = z.discriminatedUnion("outcome", [
  activeTurn,
  z.object({ outcome: z.literal("waiting") }),
  z.object({
    outcome: z.literal("lost"),
    /** Whether the turn belongs to another run, which writes its log. */
    has_other_run: z.boolean().default(false),
  }),
  z.object({
    outcome: z.literal("finished"),
    error: z.string().nullable(),
    metadata: stored<TurnMetadata>().nullable(),
  }),
]);
export type LoadedTurn = ActiveTurn | Exclude<z.output<typeof loadedTurn>, { outcome: "active" }>;

/**
 * Assigns the claim to the run and loads the state that the run continues from. From then on, only this
 * load of the turn can record steps and its end.
 * @param ends whether it is loaded to be ended, even if it waits for its client
 */
export async function loadTurn(
  db: Database,
  turnId: string,
  runId: string,
  ends = false,
): Promise<LoadedTurn> {
  const loaded = await call(db, "load_turn", { turnId, runId, ends }, loadedTurn);
  return loaded.outcome === "active" ? withCalls(db, turnId, loaded) : loaded;
}

const withCalls = (db: Database, turnId: string, turn: Omit<ActiveTurn, "calls">): ActiveTurn => ({
  ...turn,
  calls: new ModelCalls(db, { accountId: turn.account_id, turnId, load: turn.load }),
});

const begun = z.object({ load: z.number(), stop_requested: z.boolean() }).nullable();

/**
 * Assigns the claim to the run, as `loadTurn` does, without reading the turn again that the claim
 * has returned. Returns null if it does not start with this.
 */
export async function beginClaimedTurn(
  db: Database,
  turnId: string,
  runId: string,
  claimed: TurnState,
): Promise<ActiveTurn | null> {
  const found = await call(db, "begin_claimed_turn", { turnId, runId }, begun);
  const turn = { ...claimed, ...found, outcome: "active" as const, steps: [] };
  return found && withCalls(db, turnId, turn);
}

/**
 * Replaces the parts of user messages whose files are in the sandbox now, and the history of a turn
 * that the client sent one for.
 */
export async function storeFileParts(
  db: Database,
  turnId: string,
  messages: readonly UIMessage[],
  history: readonly UIMessage[],
): Promise<void> {
  const changed = messages.map(({ id, parts }) => ({ id, parts }));
  await call(db, "store_file_parts", { turnId, messages: changed, history });
}

/**
 * Lets the turn wait until its client has answered the calls, which the step `step` continues with.
 * @returns whether an event waits
 * @throws if the turn was loaded again
 */
export async function suspendTurn(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  step: number,
  calls: readonly ToolCall[],
  maxSeconds: number,
): Promise<{ areWebhooksDue: boolean }> {
  const args = { accountId, turnId, load, step, toolCalls: calls, waitSeconds: maxSeconds };
  const schema = z.object({ superseded: z.boolean(), webhooks_due: z.boolean() });
  const { superseded, webhooks_due } = await call(db, "suspend_turn", args, schema);
  refuseSuperseded(superseded, turnId);
  return { areWebhooksDue: webhooks_due };
}

/** Returns whether the turn waits for its client. */
export const isWaiting = (db: Database, turnId: string): Promise<boolean> =>
  call(db, "is_waiting", { turnId });

/**
 * Stores the result of a model call and its usage, and records the tool calls that start at once,
 * as `startTools` does. A deleted turn returns as stopped.
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function completeModelCall(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  { index, result, usage }: MeasuredStep,
  callIds: readonly string[],
): Promise<{ stopRequested: boolean; hasBudget: boolean; knownCalls: KnownCall[] }> {
  const { superseded, stop_requested, has_budget, known_calls } = await call(
    db,
    "complete_model_call",
    { accountId, turnId, load, index, result, callIds, usage },
    z.object({
      superseded: z.boolean(),
      stop_requested: z.boolean(),
      has_budget: z.boolean().default(false),
      known_calls: knownCalls,
    }),
  );
  refuseSuperseded(superseded, turnId);
  return { stopRequested: stop_requested, hasBudget: has_budget, knownCalls: known_calls };
}

/**
 * Stores the message, releases the claim, revokes the key and queues the event for webhooks in one
 * transaction. Safe to repeat.
 * @param last the step that ends the turn; null when the turn ends without a model call
 * @param output of a completed run with an output schema, by which it is valid
 * @returns whether this call has ended the turn, and not an earlier one; whether an event waits; and
 * the chat, if turns wait in it.
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function finishTurn(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  end: TurnEnd,
  error: string | null,
  parts: UIMessage["parts"],
  metadata: TurnMetadata,
  last: MeasuredStep | null,
  output?: { readonly value: unknown },
): Promise<{ hasEnded: boolean; areWebhooksDue: boolean; awaitedChatId: string | null }> {
  const { superseded, finished, webhooks_due, awaited_chat_id } = await call(
    db,
    "finish_turn",
    {
      accountId,
      turnId,
      load,
      status: end,
      error,
      parts,
      metadata,
      index: last?.index ?? null,
      step: last?.result ?? null,
      usage: last?.usage ?? [],
      // Wrapped, because the embedded REST server cannot pass a bare JSON string.
      output: output ?? null,
    },
    z.object({
      superseded: z.boolean(),
      finished: z.boolean(),
      webhooks_due: z.boolean(),
      awaited_chat_id: z.string().nullish(),
    }),
  );
  refuseSuperseded(superseded, turnId);
  return {
    hasEnded: finished,
    areWebhooksDue: webhooks_due,
    awaitedChatId: awaited_chat_id ?? null,
  };
}
