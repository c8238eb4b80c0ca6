/** The requests of agents, and the answers (supabase/schemas/76_approvals.sql). */

import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { config } from "../platform/config.ts";
import { rowOf, sentenceOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type LoadedTurnKey, refuseSuperseded } from "../running-turn/turn-key.ts";
import { type Approval, type ApprovalRule, approval, approvalRule } from "./contract.ts";

const reason = sentenceOf({ policy: "Its policy denies it now" }).nullable();

const decisions = z.discriminatedUnion("superseded", [
  z.object({ superseded: z.literal(true) }),
  z.object({
    superseded: z.literal(false),
    decisions: z.array(
      z.object({
        id: z.string(),
        call_id: z.string(),
        state: z.enum(["requested", "approved", "denied", "expired", "cancelled"]),
        reason,
      }),
    ),
  }),
]);

export interface ApprovalRequest {
  readonly id: string;
  /** The id under which the call is recorded. */
  readonly call_id: string;
  readonly tool_call_id: string;
  readonly tool: string;
  /** For which it is asked. */
  readonly category: string;
  /** All that its input has effects of. */
  readonly categories: readonly string[];
  readonly input: unknown;
  readonly effect: unknown;
  readonly fields: unknown;
  readonly is_memorable: boolean;
}

/**
 * Requests approval for each call once, and returns the state of each, except the calls that have started.
 * @param requestIndex the index of the chunk of the first request
 * @throws if the turn was loaded again
 */
export async function askApprovals(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  calls: readonly ApprovalRequest[],
  requestIndex: number,
) {
  const args = { accountId, turnId, load, calls, requestIndex, days: config().APPROVAL_DAYS };
  const answer = await call(db, "ask_approvals", args, decisions);
  refuseSuperseded(answer.superseded, turnId);
  return answer.superseded ? [] : answer.decisions;
}

/** Returns whether the turn waits for an approval. */
export const awaitsApproval = (db: Database, turnId: string): Promise<boolean> =>
  call(db, "awaits_approval", { turnId });

/** Returns whether the turn of a request has these options, as `optionsIn` returns them, or stricter ones. */
export const isAskedWithOptions = (
  db: Database,
  accountId: string,
  approvalId: string,
  options: Readonly<Record<string, unknown>>,
): Promise<boolean> => call(db, "asked_with_options", { accountId, approvalId, options });

export interface ApprovalAnswer {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
  readonly remember?: "chat" | "task" | undefined;
}

const refused = z.object({
  outcome: z.enum(["missing", "answered", "over", "no_task", "not_memorable", "too_many_turns"]),
  /** The turn that was stopped, because its key or its artist was lost. */
  stopped_turn_id: z.string().optional(),
});
export type RefusedAnswers = z.output<typeof refused>;

const recorded = z.discriminatedUnion("outcome", [
  refused,
  z.object({
    outcome: z.literal("recorded"),
    turn_id: z.string(),
    run_id: z.string(),
    resume_index: z.number(),
  }),
]);

/**
 * Records answers to requests of one turn, all or none of them.
 * @param at the run, or the chat of the turn
 * @param by whose credential answers
 */
export function recordAnswers(
  db: Database,
  accountId: string,
  at: { readonly runId: string } | { readonly chatId: string },
  answers: readonly ApprovalAnswer[],
  by: { readonly accountId: string; readonly keyId: string | null },
) {
  const args = {
    accountId,
    runId: "runId" in at ? at.runId : null,
    chatId: "chatId" in at ? at.chatId : null,
    answers,
    answeredBy: by.accountId,
    answeredKeyId: by.keyId,
    maxActive: config().ACCOUNT_ACTIVE_TURNS,
  };
  return call(db, "answer_approvals", args, recorded);
}

export function selectApprovals(
  db: Database,
  accountId: string,
  query: PageRequest & { readonly state?: Approval["state"] | undefined },
): Promise<Page<Approval>> {
  const args = { accountId, ...pageArguments(query), state: query.state ?? null };
  return call(db, "list_approvals", args, pageOf(rowOf(approval.extend({ reason })), query));
}

export function selectApprovalRules(
  db: Database,
  accountId: string,
  query: PageRequest,
): Promise<Page<ApprovalRule>> {
  const args = { accountId, ...pageArguments(query) };
  return call(db, "list_approval_rules", args, pageOf(rowOf(approvalRule), query));
}

/** Returns false if the account has no such rule. */
export const deleteApprovalRule = (db: Database, accountId: string, id: string): Promise<boolean> =>
  call(db, "delete_approval_rule", { accountId, id });
