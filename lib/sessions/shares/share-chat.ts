import type { App } from "../../app.ts";
import { type AppError, appError, isAppError } from "../../contract/app-error.ts";
import type { ChatAddress } from "../../contract/chat-address.ts";
import { config } from "../../platform/config.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import { readChat } from "../read-chat.ts";
import type { Message } from "../session.ts";
import { splitAnswer } from "../split-answer.ts";
import type { SharedMessage } from "./contract.ts";
import { formatToken, readToken } from "./share-token.ts";
import {
  copyShare,
  type StoredShare,
  selectSharedChat,
  shareNotFound,
  upsertShare,
} from "./store.ts";

const MAX_CHARS = 8 * 1024 * 1024;

/** Returns the page on which anyone can read the share. */
const urlOf = ({ id }: StoredShare): string =>
  `${serviceOrigin()}/share/${formatToken(id, config().API_KEY_SECRET)}`;

/** The answer with a share as its owner sees it. */
export const shareAnswer = <S extends StoredShare | null>(share: S) =>
  ({ body: { status: "success", share: share && { ...share, url: urlOf(share) } } }) as const;

/**
 * Shares a chat as it is now, or updates its share. Errors: 404 `Session not found`, 404 `Chat not
 * found`, 413 for more than 8 Mi characters.
 */
export async function shareChat(address: ChatAddress): Promise<StoredShare | AppError> {
  const found = await readChat(address);
  if (isAppError(found)) return found;
  const shown: SharedMessage[] = [];
  let chars = 0;
  for await (const message of found.messages) {
    for (const piece of splitAnswer(message)) {
      const one = sharedMessageOf(piece);
      if (!one) continue;
      for (const part of one.parts) chars += part.type === "text" ? part.text.length : 0;
      if (chars > MAX_CHARS)
        return appError("payload_too_large", "The chat is too long to be shared");
      shown.push(one);
    }
  }
  return upsertShare(address, shown);
}

/** Returns the shared part of a message, or null when there is none. */
export function sharedMessageOf({ role, parts }: Message): SharedMessage | null {
  const shown = parts.flatMap((part): SharedMessage["parts"] => {
    const { type, text } = part;
    if (type === "text") {
      return typeof text === "string" && text.trim() !== "" ? [{ type, text }] : [];
    }
    return type.startsWith("tool-") ? [{ type: "tool", name: type.slice("tool-".length) }] : [];
  });
  return shown.length === 0 ? null : { role, parts: shown };
}

/** Reads a page of a shared chat, for anyone who has the link. Errors: 404 `Share not found`. */
export async function readShare(
  token: string,
  { limit, cursor: from = 0 }: { readonly limit: number; readonly cursor?: number | undefined },
) {
  const id = readToken(token, config().API_KEY_SECRET);
  const found = id === null ? null : await selectSharedChat(id, from, limit);
  if (found === null) return shareNotFound;
  const next = from + limit;
  return { ...found, next_cursor: next < found.share.message_count ? String(next) : null };
}

/**
 * Copies a shared chat into a new chat of the account. Errors: 404 `Share not found`; 403 when the account has no room
 * for messages.
 */
export async function continueShare(
  { models }: Pick<App, "models">,
  accountId: string,
  token: string,
) {
  const id = readToken(token, config().API_KEY_SECRET);
  return id === null ? shareNotFound : copyShare(accountId, id, models.defaultModelId);
}
