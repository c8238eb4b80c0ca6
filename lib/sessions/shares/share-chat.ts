import { posix } from "node:path";
import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { streamOf } from "@platform/kit/stream-of";
import { isSandboxError, type SandboxFiles } from "@platform/sandbox/port";
import type { Parts } from "../../parts.ts";
import { acceptedSecrets, config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/port.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import { fileResponse } from "../../sandbox/file-response.ts";
import type { SandboxRequest } from "../../sandbox/get-sandbox.ts";
import { withSandboxFiles } from "../../sandbox/sandbox-files.ts";
import { readChat } from "../read-chat.ts";
import type { Message } from "../session.ts";
import { splitAnswer } from "../split-answer.ts";
import type { SharedMessage } from "./contract.ts";
import { formatToken, readToken } from "./share-token.ts";
import {
  copyShare,
  type StoredShare,
  selectSharedChat,
  selectSharedFile,
  shareNotFound,
  upsertShare,
} from "./store.ts";

const MAX_CHARS = 8 * 1024 * 1024;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/** Headers, because a share that is revoked must be gone at once, from search engines too. */
export const GONE_AT_ONCE = { "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" };

/** Returns the page on which anyone can read the share. */
const urlOf = ({ id }: StoredShare): string =>
  `${serviceOrigin()}/share/${formatToken(id, config().API_KEY_SECRET)}`;

/** The answer with a share as its owner sees it. */
export const shareAnswer = <S extends StoredShare | null>(share: S) =>
  ({ body: { status: "success", share: share && { ...share, url: urlOf(share) } } }) as const;

/**
 * Shares a chat with the current content of these files of its sandbox, or updates its share.
 * Errors: 404 `Session not found`, 404 `Chat not found`, 413 for more than 8 Mi characters or 10
 * MiB of files, 400 for a path that is not a file, 403 when the account has no room for them.
 */
export async function shareChat(
  app: Parts<"db" | "sandboxes">,
  address: ChatAddress & Pick<SandboxRequest, "log">,
  paths: readonly string[],
): Promise<StoredShare | AppError> {
  const found = await readChat(app.db, address);
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
  const files =
    paths.length === 0
      ? []
      : await withSandboxFiles(app, address, (sandbox) => readFiles(sandbox, paths), {});
  return isAppError(files) ? files : upsertShare(app.db, address, shown, files);
}

const tooLarge = appError("payload_too_large", "The files have more than 10 MiB in total");

async function readFiles(sandbox: SandboxFiles, paths: readonly string[]) {
  const files: { path: string; name: string; size: number; content: string }[] = [];
  let total = 0;
  for (const [index, path] of paths.entries()) {
    try {
      const bytes = await sandbox.readFile(path);
      total += bytes.byteLength;
      if (total > MAX_FILE_BYTES) return tooLarge;
      const content = Buffer.from(bytes).toString("base64");
      files.push({ path, name: posix.basename(path), size: bytes.byteLength, content });
    } catch (error) {
      if (!isSandboxError(error)) throw error;
      if (error.code === "too_large") return tooLarge;
      if (error.code !== "not_found" && error.code !== "refused") throw error;
      const field = `files.${index}`;
      return invalidField(field, `${field} is not a file in the session's sandbox`);
    }
  }
  return files;
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
  db: Database,
  token: string,
  { limit, cursor: from = 0 }: { readonly limit: number; readonly cursor?: number | undefined },
) {
  const id = readToken(token, acceptedSecrets());
  const found = id === null ? null : await selectSharedChat(db, id, from, limit);
  if (found === null) return shareNotFound;
  const next = from + limit;
  return { ...found, next_cursor: next < found.share.message_count ? String(next) : null };
}

/**
 * Reads a file of a shared chat, piece by piece, for anyone who has the link. When the share ends or is
 * renewed in the meantime, so does the body. Errors: 404 `File not found`.
 */
export async function readSharedFile(
  db: Database,
  token: string,
  index: number,
): Promise<Response | AppError> {
  const id = readToken(token, acceptedSecrets());
  const read = async (from: number) =>
    id === null ? null : selectSharedFile(db, id, index, from, PIECE_BYTES);
  const first = await read(0);
  if (!first) return appError("not_found", "File not found");
  async function* pieces(start: NonNullable<typeof first>) {
    yield Buffer.from(start.piece, "base64");
    for (let from = PIECE_BYTES; from < start.size; from += PIECE_BYTES) {
      const next = await read(from);
      if (next?.updated_at !== start.updated_at) throw new Error("The shared file has changed");
      yield Buffer.from(next.piece, "base64");
    }
  }
  const response = fileResponse(streamOf(pieces(first)), { ...first, isText: false });
  for (const [name, value] of Object.entries(GONE_AT_ONCE)) response.headers.set(name, value);
  return response;
}

/**
 * Copies a shared chat into a new chat of the account. Errors: 404 `Share not found`; 403 when the account has no room
 * for messages.
 */
export async function continueShare(
  { db, models }: Parts<"db" | "models">,
  accountId: string,
  token: string,
) {
  const id = readToken(token, acceptedSecrets());
  return id === null ? shareNotFound : copyShare(db, accountId, id, models.defaultModelId);
}
