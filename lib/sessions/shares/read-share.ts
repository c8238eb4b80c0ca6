import { config } from "../../platform/config.ts";
import { readToken } from "./share-token.ts";
import { selectSharedChat, shareNotFound } from "./store.ts";

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
