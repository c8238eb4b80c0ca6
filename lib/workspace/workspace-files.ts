/** The files of a workspace, as callers reach them. */

import { posix } from "node:path";
import { previewDocument } from "@platform/documents/preview-document";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { streamOf } from "@platform/kit/stream-of";
import type { Caller } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { fileResponse } from "../sandbox/file-response.ts";
import { takeBody } from "../sandbox/sandbox-files.ts";
import {
  type ChangedFile,
  changeFile,
  findContent,
  purgeFile,
  type WorkspacePlace,
} from "./store.ts";
import { writeFile } from "./store-content.ts";
import { MAX_FILE_BYTES } from "./workspace-file.ts";

interface WorkspaceQuery {
  readonly artist_id?: string | null | undefined;
}
interface FileQuery extends WorkspaceQuery {
  readonly path: string;
}

/** @param query or body of a request */
export const placeOf = (
  { accountId }: Caller,
  { artist_id: artistId = null }: WorkspaceQuery,
): WorkspacePlace => ({ accountId, artistId });

/** Returns the run whose sandbox sends the request; null for anyone else. */
export const runIdOf = ({ credential }: Caller): string | null =>
  credential.kind === "run" ? credential.run.runId : null;

/** Opens a version of a file with the first piece that is read. Errors: 404. */
export async function openWorkspaceFile(
  { db, contentStorage }: Parts<"db" | "contentStorage">,
  place: WorkspacePlace,
  path: string,
  version: number,
): Promise<AsyncIterable<Uint8Array> | AppError> {
  const found = await findContent(db, place, path, version);
  return isAppError(found) ? found : contentStorage.read(found.key);
}

const MAX_PREVIEW_BYTES = 10 * 1024 ** 2;
const tooLargeForPreview = appError(
  "invalid_request",
  "The file is larger than 10 MiB: download it, or split it",
);

/** Errors: 400 for a preview that cannot be had, 404, 429, 503. */
export async function readWorkspaceFile(
  app: Parts<"db" | "contentStorage" | "queues">,
  caller: Caller,
  query: FileQuery & {
    readonly version?: number | undefined;
    readonly as?: "document" | undefined;
  },
  signal: AbortSignal,
): Promise<Response | AppError> {
  const { path, version = null } = query;
  const found = await findContent(app.db, placeOf(caller, query), path, version);
  if (isAppError(found)) return found;
  const content = app.contentStorage.read(found.key);
  if (query.as) {
    if (found.bytes > MAX_PREVIEW_BYTES) return tooLargeForPreview;
    const bytes = new Uint8Array(await new Response(streamOf(content)).arrayBuffer());
    const work = { accountId: caller.accountId, queue: app.queues.documents };
    return previewDocument(work, { name: path, bytes }, signal);
  }
  return fileResponse(streamOf(content), {
    name: posix.basename(path),
    size: found.bytes,
    isText: found.isText,
  });
}

/** Writes a file from the body of a request. Errors: 400, 403, 404, 409, 413. */
export function writeRequestFile(
  app: Parts<"db" | "contentStorage">,
  caller: Caller,
  query: FileQuery & { readonly expected_version?: number | undefined },
  request: Request,
): Promise<ChangedFile | AppError> {
  const { path, expected_version: expected = null } = query;
  const change = { path, expected, runId: runIdOf(caller) };
  return takeBody(request, MAX_FILE_BYTES, (content) =>
    writeFile(app, placeOf(caller, query), content, change),
  );
}

/** Errors: 404. */
export async function deleteWorkspaceFile(
  db: Database,
  caller: Caller,
  query: FileQuery & { readonly permanent?: boolean | undefined },
): Promise<AppError | undefined> {
  const place = placeOf(caller, query);
  if (query.permanent) return purgeFile(db, place, query.path);
  const deletion = { path: query.path, contentId: null, runId: runIdOf(caller) };
  const deleted = await changeFile(db, place, deletion);
  return isAppError(deleted) ? deleted : undefined;
}

/** Returns the response to a file that was written. */
export function describeWrittenFile({ file, isNew }: ChangedFile) {
  const body = { status: "success", file } as const;
  return isNew ? ({ status: 201, body } as const) : ({ status: 200, body } as const);
}
