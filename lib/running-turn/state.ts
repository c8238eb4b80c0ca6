/** The state of a turn in progress, as the database returns it. */

import type { ContextState } from "@platform/agent/context";
import type { SteeringMessage } from "@platform/agent/conversation";
import { turnFacts } from "@platform/agent/facts";
import type { JsonSchema } from "@platform/agent/output/json-schema";
import type { StepResult, Usage } from "@platform/agent/step-result";
import type { ClientTool } from "@platform/agent/tools/client-tools";
import { turnMcpTools } from "@platform/agent/tools/mcp-tool";
import { untrustedSource } from "@platform/endpoint/contract/approvals";
import { limitNames, type RunOptions, runOptions } from "@platform/endpoint/contract/run-options";
import { turnPolicies } from "@platform/kit/network-policy";
import { turnSkills } from "@platform/skills/prompt-skills";
import type { UIMessage } from "ai";
import { z } from "zod";
import type { UsageEntry } from "./measure-step.ts";
/** Returns whether the model calls of a turn have to be reserved. */
export const reservesCalls = (turn: {
  readonly has_budget: boolean;
  readonly options: RunOptions;
}): boolean => turn.has_budget || turn.options.limits !== undefined;

/** Reserves the cost of calls that are made one after the other, such as the ones of a subagent. */
export interface Reservation {
  readonly signal: AbortSignal;
  /** The error of the database with which a call could not be reserved, if any. */
  readonly failure: unknown;
  /**
   * Resolves when the call may be made.
   * @param estimateUsd null when the price is not known
   * @param spentUsd the cost of the attempts before, which are recorded with the call
   * @throws BudgetRefusal, the reason of the signal, or an error of the database
   */
  readonly reserve: (estimateUsd: number | null, spentUsd: number) => Promise<void>;
  /** Returns the usage with the reservation, which is released when it is recorded. */
  releaseWith(usage: readonly UsageEntry[]): UsageEntry[];
  /** Ends the call, after it is recorded if it has used anything. */
  end(): void;
}

/** The first step that was informed that three quarters of a limit are used. */
export const limitNote = z.object({ step: z.number(), limit: z.enum(limitNames) });
export type LimitNote = z.output<typeof limitNote>;

export type TurnEnd = "completed" | "failed" | "cancelled";

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
export const stored = <T>() => z.custom<T>((value) => typeof value === "object" && value !== null);

/** How the conversation of a turn was compacted, by this turn or an earlier one. */
export const compaction = z.object({
  id: z.number(),
  kind: z.enum(["cleared", "summarized"]),
  state: stored<ContextState>(),
  /** Whether this turn has compacted it. */
  isOwn: z.boolean(),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
});
export type Compaction = z.output<typeof compaction>;

const policyDecision = z.enum(["run", "ask", "deny"]);
export type PolicyDecision = z.output<typeof policyDecision>;
const policyDecisions = z.record(z.string(), policyDecision);

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
  /** The policies' decision for each category of effects, before and after untrusted content. */
  decisions: z.object({ trusted: policyDecisions, untrusted: policyDecisions }).readonly(),
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
  /** The schema of a run's output; null for a turn without one. */
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

export const activeTurn = turnState.extend({
  outcome: z.literal("active"),
  steps: z.array(stored<StepResult>()),
});
export type ActiveTurn = z.output<typeof activeTurn> &
  Pick<TurnState, "subagent"> & {
    /** The model calls of this load, which reserve their cost. */
    readonly calls: { open(signal: AbortSignal): Reservation };
  };

export const knownCalls = z.array(
  z.object({ id: z.string(), finished: z.boolean(), output: z.unknown() }),
);
export type KnownCall = z.output<typeof knownCalls>[number];
