/**
 * Workspaces in the database (supabase/schemas/37_workspace.sql). Every function takes the account; the
 * workspace of an artist that it may not act for answers exactly like a missing one.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { plainText } from "@platform/kit/plain-text";
import { z } from "zod";
import type { ContentKey } from "../content/storage/port.ts";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import {
  MAX_FILES,
  MAX_VERSIONS,
  MAX_WORKSPACE_BYTES,
  type WorkspaceVersion,
  workspaceVersion,
} from "./workspace-file.ts";

/** Names the workspace of the artist, or without one of the account itself. */
export interface WorkspacePlace {
  readonly accountId: string;
  readonly artistId: string | null;
}

const placeArguments = ({ accountId, artistId }: WorkspacePlace) => ({ accountId, artistId });

const storedVersion = rowOf(workspaceVersion);
const missing = refusalOf({ missing: appError("not_found", "File not found") });

/** Returned when a content was deleted after its reservation: it must be stored again. */
export const CONTENT_GONE = appError("unavailable", "The content of the file was deleted");
export const FILE_CHANGED = appError("conflict", "The file has another version");
const workspaceFull = appError(
  "quota_exceeded",
  "The workspace is full: delete files permanently to make room",
);
const refusal = refusalOf({
  missing: appError("not_found", "File not found"),
  changed: FILE_CHANGED,
  content: CONTENT_GONE,
  full: workspaceFull,
  too_many: appError("quota_exceeded", `A workspace has at most ${MAX_FILES} files`),
  folder: appError("conflict", "path is a folder, or a part of it is a file"),
});

export function selectFiles(
  db: Database,
  place: WorkspacePlace,
  prefix: string | undefined,
  page: PageRequest,
): Promise<Page<WorkspaceVersion>> {
  const args = { ...placeArguments(place), prefix: prefix ?? null, ...pageArguments(page) };
  return call(db, "list_workspace_files", args, pageOf(storedVersion, page));
}

/** Errors: 404. */
export function selectVersions(
  db: Database,
  place: WorkspacePlace,
  path: string,
  page: PageRequest,
): Promise<Page<WorkspaceVersion> | AppError> {
  const args = { ...placeArguments(place), path, ...pageArguments(page) };
  return call(db, "list_workspace_versions", args, z.union([pageOf(storedVersion, page), missing]));
}

const keyOf = (content: { workspace_id: string; id: string }): ContentKey => ({
  workspaceId: content.workspace_id,
  contentId: content.id,
});

const foundContent = z
  .object({
    content: z.object({
      workspace_id: z.string(),
      id: z.string(),
      bytes: z.number(),
      is_text: z.boolean(),
    }),
  })
  .transform(({ content }) => ({
    key: keyOf(content),
    bytes: content.bytes,
    isText: content.is_text,
  }));
export type FoundContent = z.output<typeof foundContent>;

/** @param version null for the newest. Errors: 404, also for a deletion. */
export function findContent(
  db: Database,
  place: WorkspacePlace,
  path: string,
  version: number | null,
): Promise<FoundContent | AppError> {
  const args = { ...placeArguments(place), path, version };
  return call(db, "find_workspace_content", args, z.union([foundContent, missing]));
}

const reservedContent = z
  .object({
    content: z.object({ workspace_id: z.string(), id: z.string(), is_stored: z.boolean() }),
  })
  .transform(({ content }) => ({ key: keyOf(content), isStored: content.is_stored }));

/** Reserves the room of a content, which is stored next unless it is already. Errors: 403, 404. */
export function reserveContent(
  db: Database,
  place: WorkspacePlace,
  { sha256, bytes }: { readonly sha256: string; readonly bytes: number },
): Promise<z.output<typeof reservedContent> | AppError> {
  const args = { ...placeArguments(place), sha256, bytes, limitBytes: MAX_WORKSPACE_BYTES };
  return call(db, "reserve_workspace_content", args, z.union([reservedContent, refusal]));
}

const changedFile = z
  .object({ file: storedVersion, is_new: z.boolean() })
  .transform(({ file, is_new: isNew }) => ({ file, isNew }));
export type ChangedFile = z.output<typeof changedFile>;

export interface FileChange {
  readonly path: string;
  /** Null deletes the file. */
  readonly contentId: string | null;
  /** The start of a text file, for the search; null for other files. */
  readonly text?: string | null;
  /** The run that makes the change; null for a request of the account. */
  readonly runId: string | null;
  /** The version that must be the newest, 0 for none; null for any. */
  readonly expected?: number | null;
  readonly conflictOf?: string;
}

/** Adds a version to a file. Errors: 403, 404, 409; `CONTENT_GONE`. */
export function changeFile(
  db: Database,
  place: WorkspacePlace,
  { path, contentId, text = null, runId, expected = null, conflictOf }: FileChange,
): Promise<ChangedFile | AppError> {
  const args = {
    ...placeArguments(place),
    path,
    contentId,
    text,
    runId,
    expected,
    conflictOf: conflictOf ?? null,
    maxFiles: MAX_FILES,
    maxVersions: MAX_VERSIONS,
  };
  return call(db, "change_workspace_file", args, z.union([changedFile, refusal]));
}

/** Errors: 403, 404, 409. */
export function restoreFile(
  db: Database,
  place: WorkspacePlace,
  path: string,
  version: number,
  runId: string | null,
): Promise<ChangedFile | AppError> {
  const args = {
    ...placeArguments(place),
    path,
    version,
    runId,
    maxFiles: MAX_FILES,
    maxVersions: MAX_VERSIONS,
  };
  return call(db, "restore_workspace_file", args, z.union([changedFile, refusal]));
}

/** Deletes a file with all its versions. Errors: 404. */
export function purgeFile(
  db: Database,
  place: WorkspacePlace,
  path: string,
): Promise<AppError | undefined> {
  const purged = z.object({ purged: z.literal(true) }).transform(() => undefined);
  const args = { ...placeArguments(place), path };
  return call(db, "purge_workspace_file", args, z.union([purged, missing]));
}

const foundText = z
  .object({ path: z.string(), version: z.number(), snippet: z.string() })
  .transform(({ path, version, snippet }) => ({
    ...{ path, version },
    snippet: path.endsWith(".md") ? plainText(snippet) : snippet,
  }));

export function searchFiles(
  db: Database,
  place: WorkspacePlace,
  text: string,
  limit: number,
): Promise<z.output<typeof foundText>[]> {
  const args = { ...placeArguments(place), text, limit };
  return call(db, "search_workspace", args, z.array(foundText));
}

/** Deletes at most `batch` expired rows of each kind, and returns the greatest of their numbers. */
export const sweepVersions = (db: Database, batch: number, days: number): Promise<number> =>
  call(db, "sweep_workspaces", { batch, days });
