/**
 * Shares of chats (supabase/schemas/32_messages.sql).
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type ChatAddress,
  chatArguments,
  chatErrors,
} from "@platform/endpoint/contract/chat-address";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { messageQuotaExceeded } from "@platform/endpoint/contract/quota";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { rowOf } from "../../platform/database/columns.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { createdSession } from "../store.ts";
import {
  type OwnSharedFile,
  ownSharedFile,
  type SharedMessage,
  sharedChat,
  sharedMessage,
} from "./contract.ts";

const MAX_ACCOUNT_FILE_BYTES = 100 * 1024 * 1024;

const storedShare = rowOf(
  sharedChat.extend({
    id: uuid,
    chat_id: uuid,
    created_at: dateTime,
    files: z.array(ownSharedFile),
  }),
);
export type StoredShare = z.output<typeof storedShare>;

export const shareNotFound = appError("not_found", "Share not found");
const missing = refusalOf(
  {
    ...chatErrors,
    share: shareNotFound,
    room: messageQuotaExceeded,
    file_room: appError(
      "quota_exceeded",
      "The files of all shares take at most 100 MiB: stop sharing a chat, or share fewer files",
    ),
  },
  "missing",
);
const oneShare = z.object({ share: storedShare }).transform((answer) => answer.share);

/** @param files with their content in base64 */
export const upsertShare = (
  db: Database,
  address: ChatAddress,
  messages: readonly SharedMessage[],
  files: readonly (OwnSharedFile & { readonly content: string })[],
): Promise<StoredShare | AppError> =>
  call(
    db,
    "share_chat",
    { ...chatArguments(address), messages, files, maxFileBytes: MAX_ACCOUNT_FILE_BYTES },
    z.union([oneShare, missing]),
  );

/** Resolves to null when the chat is not shared. */
export const selectShare = (
  db: Database,
  address: ChatAddress,
): Promise<StoredShare | null | AppError> =>
  call(
    db,
    "get_chat_share",
    chatArguments(address),
    z.union([oneShare, z.object({ share: z.null() }).transform(() => null), missing]),
  );

export const removeShare = (db: Database, address: ChatAddress): Promise<AppError | undefined> =>
  call(
    db,
    "revoke_chat_share",
    chatArguments(address),
    z.union([z.object({ revoked: z.literal(true) }).transform(() => undefined), missing]),
  );

export function selectShares(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<StoredShare>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_chat_shares", args, pageOf(storedShare, page));
}

/** Resolves to null if the share does not exist. @param from the position of the first message */
export const selectSharedChat = (db: Database, shareId: string, from: number, limit: number) =>
  call(
    db,
    "read_chat_share",
    { shareId, from, limit },
    z.object({ share: rowOf(sharedChat), messages: z.array(sharedMessage) }).nullable(),
  );

/** Resolves to null if the file does not exist. @param from the first byte of the piece */
export const selectSharedFile = (
  db: Database,
  shareId: string,
  position: number,
  from: number,
  bytes: number,
) =>
  call(
    db,
    "read_shared_file",
    { shareId, position, from, bytes },
    rowOf(
      z.object({ name: z.string(), size: z.int(), updated_at: dateTime, piece: z.string() }),
    ).nullable(),
  );

/** Copies a share into a new chat of the account. */
export const copyShare = (db: Database, accountId: string, shareId: string, modelId: string) =>
  call(
    db,
    "continue_share",
    { accountId, shareId, modelId, maxAccountBytes: config().ACCOUNT_MESSAGE_BYTES },
    z.union([createdSession, missing]),
  );
