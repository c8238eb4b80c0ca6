/** The queries of a chat's context, and of compactions that callers request. Each throws DatabaseUnavailable. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type ChatAddress,
  chatArguments,
  chatErrors,
} from "@platform/endpoint/contract/chat-address";
import { budgetReached } from "@platform/endpoint/contract/quota";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { UsageEntry } from "../running-turn/measure-step.ts";
import { type Compaction, type TurnState, turnState } from "../running-turn/state.ts";
import { type LoadedTurnKey, refuseSuperseded } from "../running-turn/turn-key.ts";

const missing = refusalOf(chatErrors, "missing");
const nextTurn = z.object({ turn: turnState }).transform(({ turn }) => turn);

export const changedChat = appError(
  "conflict",
  "The chat has changed while it was compacted: request it again",
);
const refused = refusalOf({
  busy: appError("conflict", "A response is streaming for this chat: wait for its end, or stop it"),
  compacting: appError("conflict", "The chat is being compacted: wait for the end"),
  budget_reached: budgetReached,
  chat: chatErrors.chat,
  changed: changedChat,
});

/**
 * Returns the conversation of a chat as its next turn continues it. Errors: 404 for the session and the chat.
 * @param defaultModelId the model of a chat that names none
 */
export const selectNextTurn = (
  db: Database,
  address: ChatAddress,
  defaultModelId: string,
): Promise<TurnState | AppError> =>
  call(
    db,
    "get_chat_context",
    { ...chatArguments(address), defaultModelId },
    z.union([nextTurn, missing]),
  );

export interface RequestedCompaction {
  /** Identifies the request that compacts. */
  readonly id: string;
  readonly address: ChatAddress;
}

/**
 * Leases the compaction of a chat, and returns its conversation as `selectNextTurn` does.
 * Errors: 402 for a budget that is spent; 404; 409 while a turn is active or another request has the lease.
 */
export const beginCompaction = (
  db: Database,
  { id, address }: RequestedCompaction,
  defaultModelId: string,
  leaseSeconds: number,
): Promise<TurnState | AppError> =>
  call(
    db,
    "begin_compaction",
    { ...chatArguments(address), id, defaultModelId, leaseSeconds },
    z.union([nextTurn, refused, missing]),
  );

export interface MadeCompaction
  extends Pick<Compaction, "kind" | "state" | "tokensBefore" | "tokensAfter"> {
  /** The newest message that it covers. */
  readonly messageId: string;
}

/**
 * Ends the lease, and records a compaction and the usage of its model calls.
 * @param turn the conversation that was compacted
 * @param made null for none
 * Errors: 404 for the chat; 409 if it has changed. The usage is recorded nevertheless.
 */
export async function endCompaction(
  db: Database,
  { id, address }: RequestedCompaction,
  turn: TurnState,
  made: MadeCompaction | null,
  keyId: string | null,
  usage: readonly UsageEntry[],
): Promise<AppError | undefined> {
  const ended = await call(
    db,
    "end_compaction",
    {
      accountId: address.accountId,
      chatId: address.chatId,
      id,
      leafId: turn.message_id,
      baseId: turn.compaction?.id ?? null,
      compaction: made && {
        message_id: made.messageId,
        kind: made.kind,
        state: made.state,
        tokens_before: made.tokensBefore,
        tokens_after: made.tokensAfter,
      },
      apiKeyId: keyId,
      usage,
    },
    z.union([z.object({ recorded: z.boolean() }), refused]),
  );
  return "recorded" in ended ? undefined : ended;
}

/**
 * Records a compaction and the usage of its summary.
 * @param messageId the newest message that it covers
 * @param callId of the subagent whose conversation it is; null for the chat
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function recordCompaction(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  { kind, state, tokensBefore, tokensAfter }: Omit<Compaction, "id" | "isOwn">,
  messageId: string,
  usage: readonly UsageEntry[],
  callId: string | null,
): Promise<Compaction> {
  const { superseded, id } = await call(
    db,
    "record_compaction",
    {
      accountId,
      turnId,
      load,
      messageId,
      kind,
      state,
      tokensBefore,
      tokensAfter,
      usage,
      toolCallId: callId,
    },
    z.object({ superseded: z.boolean(), id: z.number().default(0) }),
  );
  refuseSuperseded(superseded, turnId);
  return { id, kind, state, tokensBefore, tokensAfter, isOwn: true };
}
