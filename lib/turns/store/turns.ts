/**
 * The queries of the durable run: it loads its turn, records tools and steps, and ends the turn.
 * This file is long because it is the list of these queries.
 */

import type { ContextState } from "@platform/agent/context";
import type { SteeringMessage } from "@platform/agent/conversation";
import { turnFacts } from "@platform/agent/facts";
import type { JsonSchema } from "@platform/agent/output/json-schema";
import type { StepResult, ToolCall, Usage } from "@platform/agent/step-result";
import type { ClientTool } from "@platform/agent/tools/client-tools";
import { turnMcpTools } from "@platform/agent/tools/mcp-tool";
import { type UntrustedSource, untrustedSource } from "@platform/endpoint/contract/approvals";
import { runOptions } from "@platform/endpoint/contract/run-options";
import { turnPolicies } from "@platform/kit/network-policy";
import { turnSkills } from "@platform/skills/prompt-skills";
import type { UIMessage } from "ai";
import { z } from "zod";
import { call } from "../../platform/database/query.ts";
import type { MeasuredStep, UsageEntry } from "../measure-step.ts";
import {
  type LoadedTurnKey,
  limitNote,
  ModelCalls,
  refuseSuperseded,
  type TurnKey,
} from "./model-calls.ts";

/** The metadata of an assistant message. */
export interface TurnMetadata {
  readonly modelId: string;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly finishReason: string;
  /** Why the turn failed, as its run says it. */
  readonly error?: string;
}

// Messages and results were validated before this service stored them, so only their kind is
// checked.
const stored = <T>() => z.custom<T>((value) => typeof value === "object" && value !== null);

/** How the conversation of a turn was compacted, by this turn or an earlier one. */
const compaction = z.object({
  id: z.number(),
  kind: z.enum(["cleared", "summarized"]),
  state: stored<ContextState>(),
  /** Whether this turn has compacted it. */
  isOwn: z.boolean(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
});
export type Compaction = z.output<typeof compaction>;

export const turnState = z.object({
  /** Numbers the processes and attempts that have loaded the turn. */
  load: z.number(),
  account_id: z.string(),
  session_id: z.string(),
  chat_id: z.string(),
  message_id: z.string(),
  assistant_message_id: z.string(),
  model_id: z.string(),
  instructions: z.string().nullable(),
  options: runOptions.extend({ network_policies: turnPolicies.optional() }),
  /** The stored skills that the turn could use at its start. */
  skills: turnSkills.nullish().transform((skills) => skills ?? turnSkills.parse({})),
  /** The tools of MCP servers that the turn could call at its start. */
  mcp_tools: turnMcpTools.nullish().transform((tools) => tools ?? []),
  limit_note: limitNote.nullable(),
  /** The untrusted content of the turn. */
  untrusted: z.array(untrustedSource).readonly().default([]),
  /** The facts at the start of the turn; null for a turn of an earlier version. */
  facts: turnFacts.nullish().transform((facts) => facts ?? null),
  context_limit: z.number().nullable(),
  headless: z.boolean(),
  /** Whether a schedule or a trigger has started it. */
  is_of_task: z.boolean().default(true),
  has_key: z.boolean(),
  /** The id of its credential. */
  key_id: z.string().nullish(),
  /** Whether the account has a budget, against which each model call is checked. */
  has_budget: z.boolean(),
  created_at: z.string(),
  stop_requested: z.boolean(),
  artist_id: z.string().nullable(),
  workspace: z.object({
    /** Null for the workspace of the account. */
    artist_id: z.string().nullable(),
    /** The start of `MEMORY.md` when the turn started. */
    memory: z.string().nullable(),
  }),
  compaction: compaction.nullable(),
  /** What the output of a run must be; null for a turn without one. */
  output_schema: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : (JSON.parse(text) as JsonSchema))),
  /** The tools that the client runs; null for none. */
  client_tools: z
    .string()
    .nullish()
    .transform((text) => (text ? (JSON.parse(text) as ClientTool[]) : null)),
  steering: z.array(stored<SteeringMessage>()),
  sandbox_state: z.unknown(),
  history: z.array(stored<UIMessage>()),
});
/** A turn as its model calls need it. */
export type TurnState = z.output<typeof turnState> & {
  /** Present in the conversation of a subagent, which otherwise is like the conversation of its turn. */
  readonly subagent?: Subagent;
};

export interface Subagent {
  /** The id under which its call is recorded. */
  readonly callId: string;
  /** The step of the turn that runs it, and its place among the calls of that step, from 1. */
  readonly step: number;
  readonly place: number;
}

const activeTurn = turnState.extend({
  outcome: z.literal("active"),
  steps: z.array(stored<StepResult>()),
});
export type ActiveTurn = z.output<typeof activeTurn> &
  Pick<TurnState, "subagent"> & {
    /** The model calls of this load, which reserve their cost. */
    readonly calls: ModelCalls;
  };

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
export async function loadTurn(turnId: string, runId: string, ends = false): Promise<LoadedTurn> {
  const args = { p_turn_id: turnId, p_run_id: runId, p_has_history: false, p_ends: ends };
  const loaded = await call("load_turn", args, loadedTurn);
  return loaded.outcome === "active" ? withCalls(turnId, loaded) : loaded;
}

const withCalls = (turnId: string, turn: Omit<ActiveTurn, "calls">): ActiveTurn => ({
  ...turn,
  calls: new ModelCalls({ accountId: turn.account_id, turnId, load: turn.load }),
});

const begun = z.object({ load: z.number(), stop_requested: z.boolean() }).nullable();

/**
 * Assigns the claim to the run, as `loadTurn` does, without reading the turn again that the claim has returned.
 * Returns null if it does not begin with this.
 */
export async function beginClaimedTurn(
  turnId: string,
  runId: string,
  claimed: TurnState,
): Promise<ActiveTurn | null> {
  const found = await call("begin_claimed_turn", { p_turn_id: turnId, p_run_id: runId }, begun);
  const turn = { ...claimed, ...found, outcome: "active" as const, steps: [] };
  return found && withCalls(turnId, turn);
}

/**
 * Replaces the parts of user messages whose files are in the sandbox now, and the history of a turn
 * that the client sent one for.
 */
export async function storeFileParts(
  turnId: string,
  messages: readonly UIMessage[],
  history: readonly UIMessage[],
): Promise<void> {
  const changed = messages.map(({ id, parts }) => ({ id, parts }));
  const args = { p_turn_id: turnId, p_messages: changed, p_history: history };
  await call("store_file_parts", args, z.unknown());
}

/**
 * Takes the messages that wait to steer the turn, before the model call `step`. A turn that was stopped or
 * loaded by another process takes none.
 */
export function takeSteeringMessages(
  { accountId, turnId, load }: LoadedTurnKey,
  step: number,
): Promise<SteeringMessage[]> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_load: load, p_step: step };
  return call("take_steering_messages", args, z.array(stored<SteeringMessage>()));
}

/** Replaces the parts of messages that the turn has taken, whose files are in the sandbox now. */
export async function storeSteeringFiles(
  turnId: string,
  messages: readonly UIMessage[],
): Promise<void> {
  const changed = messages.map(({ id, parts }) => ({ id, parts }));
  await call("store_steering_files", { p_turn_id: turnId, p_messages: changed }, z.unknown());
}

const knownCalls = z.array(
  z.object({ id: z.string(), finished: z.boolean(), output: z.unknown() }),
);
export type KnownCall = z.output<typeof knownCalls>[number];

/**
 * Records calls that are about to start, under ids that are unique in the turn.
 * @returns the calls that were recorded before and must not run again.
 */
export function startTools(turnId: string, callIds: readonly string[]): Promise<KnownCall[]> {
  return call("start_tools", { p_turn_id: turnId, p_call_ids: callIds }, knownCalls);
}

const toolEnd = z.object({
  untrusted: z.array(untrustedSource),
  has_budget: z.boolean(),
  has_steering: z.boolean(),
});
export type ToolEnd = z.output<typeof toolEnd>;

/**
 * Records the output of a call.
 * @param met the untrusted content of the output
 * @returns all that the turn has met, whether its account has a budget, and whether messages wait to steer
 * it; null if it is gone
 */
export function finishTool(
  { accountId, turnId }: TurnKey,
  callId: string,
  output: unknown,
  met: readonly UntrustedSource[] = [],
): Promise<ToolEnd | null> {
  const args = {
    p_turn_id: turnId,
    p_call_id: callId,
    // Wrapped, because the embedded REST server cannot pass a bare JSON string.
    p_output: { value: output },
    p_account_id: accountId,
    p_sources: met.length > 0 ? met : null,
  };
  return call("finish_tool", args, toolEnd.nullable());
}

/** Records untrusted content that the turn has met outside of its tools. Returns all of the turn. */
export function markUntrusted(
  { accountId, turnId }: TurnKey,
  met: readonly UntrustedSource[],
): Promise<UntrustedSource[]> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_sources: met };
  return call("mark_turn_untrusted", args, z.array(untrustedSource));
}

/** Returns the calls that have an output. */
export function findFinishedTools(turnId: string, callIds: readonly string[]): Promise<string[]> {
  const args = { p_turn_id: turnId, p_call_ids: callIds };
  return call("finished_tools", args, z.array(z.string()));
}

/**
 * Lets the turn wait until its client has answered the calls, which the step `step` continues with.
 * @returns whether an event waits
 * @throws if the turn was loaded again
 */
export async function suspendTurn(
  { accountId, turnId, load }: LoadedTurnKey,
  step: number,
  calls: readonly ToolCall[],
  maxSeconds: number,
): Promise<{ areWebhooksDue: boolean }> {
  const args = {
    p_account_id: accountId,
    p_turn_id: turnId,
    p_load: load,
    p_step: step,
    p_tool_calls: calls,
    p_wait_seconds: maxSeconds,
  };
  const schema = z.object({ superseded: z.boolean(), webhooks_due: z.boolean() });
  const { superseded, webhooks_due } = await call("suspend_turn", args, schema);
  refuseSuperseded(superseded, turnId);
  return { areWebhooksDue: webhooks_due };
}

/** Returns whether the turn waits for its client. */
export const isWaiting = (turnId: string): Promise<boolean> =>
  call("is_waiting", { p_turn_id: turnId }, z.boolean());

/** Returns the output of a recorded call, which `finishTool` has wrapped. */
export function recordedOutput(known: KnownCall): unknown {
  return z.object({ value: z.unknown() }).parse(known.output).value;
}

/** Records model calls, each once, which the end of no step records: calls of subagents. */
export async function recordUsage(
  { accountId, turnId }: TurnKey,
  usage: readonly UsageEntry[],
): Promise<void> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_calls: usage };
  await call("record_turn_usage", args, z.boolean());
}

/**
 * Stores the result of a model call and what it has used, and records those of its tool calls that start
 * at once, as `startTools` does. A turn that was deleted is to stop.
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function completeModelCall(
  { accountId, turnId, load }: LoadedTurnKey,
  { index, result, usage }: MeasuredStep,
  callIds: readonly string[],
): Promise<{ stopRequested: boolean; hasBudget: boolean; knownCalls: KnownCall[] }> {
  const { superseded, stop_requested, has_budget, known_calls } = await call(
    "complete_model_call",
    {
      p_account_id: accountId,
      p_turn_id: turnId,
      p_load: load,
      p_index: index,
      p_result: result,
      p_call_ids: callIds,
      p_usage: usage,
    },
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
 * Records a compaction and the usage of its summary.
 * @param messageId the newest message that it covers
 * @param callId of the subagent whose conversation it is; null for the chat
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function recordCompaction(
  { accountId, turnId, load }: LoadedTurnKey,
  { kind, state, tokensBefore, tokensAfter }: Omit<Compaction, "id" | "isOwn">,
  messageId: string,
  usage: readonly UsageEntry[],
  callId: string | null,
): Promise<Compaction> {
  const { superseded, id } = await call(
    "record_compaction",
    {
      p_account_id: accountId,
      p_turn_id: turnId,
      p_load: load,
      p_message_id: messageId,
      p_kind: kind,
      p_state: state,
      p_tokens_before: tokensBefore,
      p_tokens_after: tokensAfter,
      p_usage: usage,
      p_tool_call_id: callId,
    },
    z.object({ superseded: z.boolean(), id: z.number().default(0) }),
  );
  refuseSuperseded(superseded, turnId);
  return { id, kind, state, tokensBefore, tokensAfter, isOwn: true };
}

/** Loads what a subagent continues with; nothing when its turn was deleted. */
export async function loadSubagent({ accountId, turnId }: TurnKey, callId: string) {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_tool_call_id: callId };
  const schema = z.object({
    steps: z.array(stored<StepResult>()),
    compaction: compaction.nullable(),
  });
  return (await call("load_subagent", args, schema.nullable())) ?? { steps: [], compaction: null };
}

/**
 * Stores the result of a model call of a subagent and what it has used.
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function completeSubagentCall(
  { accountId, turnId, load }: LoadedTurnKey,
  callId: string,
  { index, result, usage }: MeasuredStep,
): Promise<{ hasBudget: boolean }> {
  const args = {
    p_account_id: accountId,
    p_turn_id: turnId,
    p_load: load,
    p_tool_call_id: callId,
    p_index: index,
    p_result: result,
    p_usage: usage,
  };
  const { superseded, has_budget } = await call(
    "complete_subagent_call",
    args,
    z.object({ superseded: z.boolean(), has_budget: z.boolean().default(false) }),
  );
  refuseSuperseded(superseded, turnId);
  return { hasBudget: has_budget };
}

export type TurnEnd = "completed" | "failed" | "cancelled";

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
  { accountId, turnId, load }: LoadedTurnKey,
  end: TurnEnd,
  error: string | null,
  parts: UIMessage["parts"],
  metadata: TurnMetadata,
  last: MeasuredStep | null,
  output?: { readonly value: unknown },
): Promise<{ hasEnded: boolean; areWebhooksDue: boolean; awaitedChatId: string | null }> {
  const { superseded, finished, webhooks_due, awaited_chat_id } = await call(
    "finish_turn",
    {
      p_account_id: accountId,
      p_turn_id: turnId,
      p_load: load,
      p_status: end,
      p_error: error,
      p_parts: parts,
      p_metadata: metadata,
      p_index: last?.index ?? null,
      p_step: last?.result ?? null,
      p_usage: last?.usage ?? [],
      // Wrapped, because the embedded REST server cannot pass a bare JSON string.
      p_output: output ?? null,
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
