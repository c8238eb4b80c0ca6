import { createHash, type Hash } from "node:crypto";
import { open } from "node:fs/promises";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { runtimePath } from "@platform/kit/runtime-path";
import { withWorkFolder } from "../content/work-folder.ts";
import type { Parts } from "../parts.ts";
import {
  type ChangedFile,
  CONTENT_GONE,
  changeFile,
  type FileChange,
  reserveContent,
  type WorkspacePlace,
} from "./store.ts";

const MAX_TEXT_CHARS = 100_000;
/** Each character has at most four. */
const MAX_TEXT_BYTES = 4 * MAX_TEXT_CHARS;
/** A content can be deleted by another request each time that it was found. */
const MAX_ATTEMPTS = 5;

export interface ReceivedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly text: string | null;
}

/**
 * Writes a file of a workspace from a stream that the caller has bounded, when all of it has arrived.
 * Errors: 403, 404, 409. Throws the errors of the stream.
 */
export function writeFile(
  app: Parts<"db" | "contentStorage">,
  place: WorkspacePlace,
  content: AsyncIterable<Uint8Array>,
  change: Omit<FileChange, "contentId" | "text">,
): Promise<ChangedFile | AppError> {
  return receiveFile(content, (file) => storeFile(app, place, file, change));
}

/** Calls `use` with a temporary file that has the content. */
export const receiveFile = <T>(
  content: AsyncIterable<Uint8Array>,
  use: (file: ReceivedFile) => Promise<T>,
): Promise<T> =>
  withWorkFolder(async (folder) => {
    const path = runtimePath(folder, "content");
    const hash = createHash("sha256");
    const { bytes, text } = await receive(path, content, hash);
    return use({ path, sha256: hash.digest("hex"), bytes, text });
  });

/** Stores a file that was received, which is moved, unless the workspace has its content. */
export const storeFile = (
  app: Parts<"db" | "contentStorage">,
  place: WorkspacePlace,
  file: ReceivedFile,
  change: Omit<FileChange, "contentId" | "text">,
): Promise<ChangedFile | AppError> =>
  storeContent(app, place, file, (contentId) =>
    changeFile(app.db, place, { ...change, contentId, text: file.text }),
  );

/** @param record records the use of the content; called again if the content was deleted in the meantime */
export async function storeContent<T>(
  { db, contentStorage }: Parts<"db" | "contentStorage">,
  place: WorkspacePlace,
  file: ReceivedFile,
  record: (contentId: string) => Promise<T | AppError>,
): Promise<T | AppError> {
  for (let attempt = 1; ; attempt++) {
    const reserved = await reserveContent(db, place, file);
    if (isAppError(reserved)) return reserved;
    if (!reserved.isStored) await contentStorage.store(reserved.key, file.path);
    const recorded = await record(reserved.key.contentId);
    if (recorded !== CONTENT_GONE || !reserved.isStored || attempt === MAX_ATTEMPTS) {
      return recorded;
    }
  }
}

async function receive(path: string, content: AsyncIterable<Uint8Array>, hash: Hash) {
  const start: Uint8Array[] = [];
  let bytes = 0;
  const file = await open(path, "wx");
  try {
    for await (const piece of content) {
      if (bytes < MAX_TEXT_BYTES) start.push(piece);
      bytes += piece.byteLength;
      hash.update(piece);
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
  return { bytes, text: textOf(Buffer.concat(start).subarray(0, MAX_TEXT_BYTES)) };
}

/** Returns the start of a text; null for other files. */
function textOf(start: Uint8Array): string | null {
  try {
    // The last character may be cut.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return text.includes("\0") ? null : text.slice(0, MAX_TEXT_CHARS).toWellFormed();
  } catch {
    return null;
  }
}
