/** The queries of turns that wait for their chat. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { rowOf } from "../../platform/database/columns.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { type QueuedMessages, queuedMessage } from "../queue-contract.ts";

/** A turn whose run was not started within this time was left behind by a server that has died. */
const STALE_SECONDS = 10;

const begun = z
  .object({ turn_id: z.string(), credential: z.enum(["key", "bearer"]) })
  .transform((row) => ({ turnId: row.turn_id, credential: row.credential }));

/**
 * Claims a chat that is free for the first turn that waits in it. Returns null when there is none.
 * @param processId as `Engine.processId`
 */
export function beginQueuedTurn(
  db: Database,
  chatId: string,
  processId: string | null,
): Promise<z.output<typeof begun> | null> {
  const args = {
    claimedBy: processId,
    chatId,
    maxActive: config().ACCOUNT_ACTIVE_TURNS,
    staleSeconds: STALE_SECONDS,
  };
  return call(db, "begin_queued_turn", args, begun.nullable());
}

/** Takes over a turn whose process has died between its claim and its run. Returns null when there is none. */
export const takeOverClaim = (
  db: Database,
  processId: string,
): Promise<z.output<typeof begun> | null> =>
  call(db, "take_over_claim", { claimedBy: processId }, begun.nullable());

/** Notes that the run of the turn was started. */
export async function dequeueTurn(db: Database, turnId: string): Promise<void> {
  await call(db, "dequeue_turn", { turnId });
}

/** Returns chats that are free although turns wait in them. */
export function queuedChats(db: Database, limit: number): Promise<string[]> {
  return call(db, "chats_to_begin", { limit, staleSeconds: STALE_SECONDS });
}

const state = z.discriminatedUnion("state", [
  z.object({ state: z.literal("started"), turn_id: z.string(), run_id: z.string() }),
  z.object({ state: z.enum(["waiting", "gone"]) }),
]);

/**
 * `started`: by itself, or another turn has taken its message. `gone`: the turn was dropped, because its chat was
 * stopped, or it could not be started.
 */
export const queuedTurnState = (db: Database, accountId: string, turnId: string) =>
  call(db, "queued_turn_state", { accountId, turnId }, state);

const waiting = z.object({ messages: z.array(rowOf(queuedMessage)) });
const refused = refusalOf({
  chat: appError("not_found", "Chat not found"),
  message: appError("not_found", "Message not found"),
});

/** Errors: 404 `Chat not found`. */
export const selectQueuedMessages = (
  db: Database,
  accountId: string,
  chatId: string,
): Promise<QueuedMessages | AppError> =>
  call(db, "list_queued_messages", { accountId, chatId }, z.union([waiting, refused]));

const removed = z.object({ removed: z.literal(true) });

/** Errors: 404 `Chat not found`, 404 `Message not found` for one that does not wait. */
export const deleteQueuedMessage = (
  db: Database,
  accountId: string,
  chatId: string,
  messageId: string,
): Promise<z.output<typeof removed> | AppError> =>
  call(db, "remove_queued_message", { accountId, chatId, messageId }, z.union([removed, refused]));
