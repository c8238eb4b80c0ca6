/**
 * Shares of chats (supabase/schemas/30_sessions.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { type AppError, appError } from "../../contract/app-error.ts";
import { type ChatAddress, chatArguments, chatErrors } from "../../contract/chat-address.ts";
import { dateTime, uuid } from "../../contract/fields.ts";
import { type Page, type PageRequest, pageArguments, pageOf } from "../../contract/pagination.ts";
import { messageQuotaExceeded } from "../../contract/quota.ts";
import { refusalOf } from "../../contract/refusal.ts";
import { config } from "../../platform/config.ts";
import { rowOf } from "../../platform/database/columns.ts";
import { call } from "../../platform/database/query.ts";
import { createdSession } from "../store.ts";
import { type SharedMessage, sharedChat, sharedMessage } from "./contract.ts";

const storedShare = rowOf(sharedChat.extend({ id: uuid, chat_id: uuid, created_at: dateTime }));
export type StoredShare = z.output<typeof storedShare>;

export const shareNotFound = appError("not_found", "Share not found");
const missing = refusalOf(
  { ...chatErrors, share: shareNotFound, room: messageQuotaExceeded },
  "missing",
);
const oneShare = z.object({ share: storedShare }).transform((answer) => answer.share);

export const upsertShare = (
  address: ChatAddress,
  messages: readonly SharedMessage[],
): Promise<StoredShare | AppError> =>
  call(
    "share_chat",
    { ...chatArguments(address), p_messages: messages },
    z.union([oneShare, missing]),
  );

/** Resolves to null when the chat is not shared. */
export const selectShare = (address: ChatAddress): Promise<StoredShare | null | AppError> =>
  call(
    "get_chat_share",
    chatArguments(address),
    z.union([oneShare, z.object({ share: z.null() }).transform(() => null), missing]),
  );

export const removeShare = (address: ChatAddress): Promise<AppError | undefined> =>
  call(
    "revoke_chat_share",
    chatArguments(address),
    z.union([z.object({ revoked: z.literal(true) }).transform(() => undefined), missing]),
  );

export function selectShares(accountId: string, page: PageRequest): Promise<Page<StoredShare>> {
  const args = { p_account_id: accountId, ...pageArguments(page) };
  return call("list_chat_shares", args, pageOf(storedShare, page));
}

/** Resolves to null when there is no such share. @param from the position of the first message */
export const selectSharedChat = (shareId: string, from: number, limit: number) =>
  call(
    "read_chat_share",
    { p_share_id: shareId, p_from: from, p_limit: limit },
    z.object({ share: rowOf(sharedChat), messages: z.array(sharedMessage) }).nullable(),
  );

/** Copies a share into a new chat of the account. */
export const copyShare = (accountId: string, shareId: string, modelId: string) =>
  call(
    "continue_share",
    {
      p_account_id: accountId,
      p_share_id: shareId,
      p_model_id: modelId,
      p_max_account_bytes: config().ACCOUNT_MESSAGE_BYTES,
    },
    z.union([createdSession, missing]),
  );
