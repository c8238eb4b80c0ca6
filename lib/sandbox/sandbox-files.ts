/** The files of a session's sandbox, as callers reach them from outside. */
import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { sandboxQuotaExceeded } from "@platform/endpoint/contract/quota";
import {
  isSandboxError,
  MAX_FILE_BYTES,
  MAX_STREAMED_BYTES,
  SandboxError,
  type SandboxFiles,
  type SandboxProvider,
  type SandboxState,
  type WrittenFile,
} from "@platform/sandbox/port";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import type { sandboxFile } from "./contract.ts";
import type { SandboxRequest } from "./get-sandbox.ts";
import { selectSandbox } from "./store.ts";

const uninitialized = appError("sandbox_missing", "Sandbox not initialized");
const readFailed = appError("upstream_error", "Failed to read sandbox files");
const writeFailed = appError("upstream_error", "Failed to write sandbox files");
/** Not the account's fault, unlike its quota. */
const diskFull = appError("unavailable", "The service has no disk space left", {
  headers: { "retry-after": "60" },
});
const busy = appError("unavailable", "The sandbox is busy", { headers: { "retry-after": "5" } });

/**
 * Calls `use` with the files of the session's sandbox.
 * @param refusals the errors to return for refusals of the sandbox itself
 * @param failed the error to return for any other failure of the sandbox
 * Errors: `refusals`, 404 `Session not found`, 400 `Sandbox not initialized`, 502, and 503 when too
 * many requests of the account are waiting, or the disk is full.
 */
export async function withSandboxFiles<T>(
  { db, sandboxes }: Parts<"db" | "sandboxes">,
  { accountId, sessionId, log }: SandboxRequest,
  use: (files: SandboxFiles) => Promise<T>,
  refusals: Partial<Record<SandboxError["code"], AppError>>,
  failed: AppError = readFailed,
): Promise<T | AppError> {
  const found = await selectSandbox(db, accountId, sessionId);
  if (isAppError(found)) return found;
  // The files of a provider that this server no longer uses are out of reach.
  if (found.sandbox?.provider !== sandboxes.name) return uninitialized;
  try {
    return await use(sandboxes.openFiles(found.sandbox, accountId));
  } catch (error) {
    const refusal = isSandboxError(error) ? refusals[error.code] : undefined;
    if (refusal) return refusal;
    if (isSandboxError(error) && error.code === "busy") return busy;
    if (isSandboxError(error) && error.code === "disk_full") {
      log.error({ err: error, sessionId }, "the disk is full");
      return diskFull;
    }
    if (await isGone(sandboxes, found.sandbox)) return uninitialized;
    log.error({ err: error, sessionId }, "the sandbox's files could not be used");
    return failed;
  }
}

async function isGone(provider: SandboxProvider, state: SandboxState): Promise<boolean> {
  try {
    return (await provider.status(state)) === "expired";
  } catch {
    return false;
  }
}

const folderRefusals = {
  not_found: appError("not_found", "Folder not found"),
  refused: appError("invalid_request", "path is not a folder"),
};

/** Lists a folder of the session's sandbox, by default its home. Errors: 400, 404, 502, 503. */
export async function listFiles(
  app: Parts<"db" | "sandboxes">,
  { path = ".", ...request }: SandboxRequest & { readonly path?: string | undefined },
): Promise<
  { path: string; entries: z.output<typeof sandboxFile>[]; truncated: boolean } | AppError
> {
  const listing = await withSandboxFiles(
    app,
    request,
    (files) => files.listFolder(path),
    folderRefusals,
  );
  if (isAppError(listing)) return listing;
  const entries = listing.entries.map(({ path: name, ...entry }) => ({
    name,
    ...entry,
    path: posix.join(listing.path, name),
  }));
  return { path: listing.path, entries, truncated: listing.truncated };
}

const readRefusals = {
  not_found: appError("not_found", "File not found"),
  refused: appError("invalid_request", "path is not a file"),
  too_large: appError("invalid_request", `File is larger than ${MAX_FILE_BYTES} bytes`),
};

export interface FileContent {
  /** The last segment of the path. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isText: boolean;
}

/** Reads a file of the session's sandbox. Errors: 400, 404, 502, 503. */
export async function readFile(
  app: Parts<"db" | "sandboxes">,
  { path, ...request }: SandboxRequest & { readonly path: string },
): Promise<FileContent | AppError> {
  const read = await withSandboxFiles(app, request, (files) => files.readFile(path), readRefusals);
  if (isAppError(read)) return read;
  const bytes = new Uint8Array(read);
  return { name: posix.basename(path), bytes, isText: isUtf8(bytes) && !bytes.includes(0) };
}

const removeRefusals = {
  not_found: appError("not_found", "File not found"),
  refused: appError("invalid_request", "path cannot be removed"),
};

/** Removes a file or folder of the session's sandbox. Errors: 400, 404, 502, 503. */
export const removeFile = (
  app: Parts<"db" | "sandboxes">,
  { path, ...request }: SandboxRequest & { readonly path: string },
): Promise<null | AppError> =>
  withSandboxFiles(
    app,
    request,
    (files) => files.remove(path).then(() => null),
    removeRefusals,
    writeFailed,
  );

const tooLarge = appError("payload_too_large", "Request body too large");
const unwritable = appError("invalid_request", "path cannot be written");
const writeRefusals = {
  // A parent of the path is a file.
  not_found: unwritable,
  refused: unwritable,
  no_space: sandboxQuotaExceeded,
  too_large: tooLarge,
  incomplete: appError("invalid_request", "The request body is incomplete"),
};

/**
 * Writes a file of the session's sandbox from the body of a request, at most `MAX_STREAMED_BYTES`.
 * Errors: 400, 403 for a full account, 404, 413, 502, 503.
 */
export async function writeFile(
  app: Parts<"db" | "sandboxes">,
  {
    path,
    request,
    ...place
  }: SandboxRequest & { readonly path: string; readonly request: Request },
): Promise<WrittenFile | AppError> {
  const { body, headers } = request;
  if (Number(headers.get("content-length") ?? 0) > MAX_STREAMED_BYTES) return tooLarge;
  const written = await withSandboxFiles(
    app,
    place,
    (files) => files.writeStream(path, boundedContent(body)),
    writeRefusals,
    writeFailed,
  );
  // Otherwise the connection would stay open for the rest of the body.
  if (isAppError(written)) await body?.cancel().catch(() => {});
  return written;
}

const incompleteBody = appError("invalid_request", "The request body is incomplete");

/** Passes the body of a request on. Errors: 400 for a body that is incomplete, 413. */
export async function takeBody<T>(
  { body, headers }: Request,
  maxBytes: number,
  take: (content: AsyncGenerator<Uint8Array>) => Promise<T>,
): Promise<T | AppError> {
  try {
    if (Number(headers.get("content-length") ?? 0) > maxBytes) {
      throw new SandboxError("too_large", "The body is too large");
    }
    return await take(boundedContent(body, maxBytes));
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    // Otherwise the connection would stay open for the rest of the body.
    await body?.cancel().catch(() => {});
    return error.code === "too_large" ? tooLarge : incompleteBody;
  }
}

/** Yields the body of a request. Throws a SandboxError: `too_large`, or `incomplete`. */
async function* boundedContent(
  body: ReadableStream<Uint8Array> | null,
  maxBytes = MAX_STREAMED_BYTES,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  const reader = body?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read().catch(incomplete);
      if (!piece || piece.done) return;
      size += piece.value.byteLength;
      if (size > maxBytes) throw new SandboxError("too_large", "The body is too large");
      yield piece.value;
    }
  } finally {
    reader?.releaseLock();
  }
}

function incomplete(): never {
  throw new SandboxError("incomplete", "The client did not send all of the body");
}

/** Returns the response to a file that was written. */
export function describeWrittenFile({ path, size, modifiedAt, isNew }: WrittenFile) {
  const file = { path, size, modified_at: modifiedAt };
  const body = { status: "success", file } as const;
  return isNew ? ({ status: 201, body } as const) : ({ status: 200, body } as const);
}
