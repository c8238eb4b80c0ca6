/**
 * Which files of a workspace the sandbox of a session has (supabase/schemas/37_workspace.sql).
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { type UntrustedSource, untrustedSource } from "@platform/endpoint/contract/approvals";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";

/** The sandbox of a session, and the artist whose workspace it has; null for the account itself. */
export interface Checkout {
  readonly accountId: string;
  readonly sessionId: string;
  readonly artistId: string | null;
  /** Identifies the sandbox: files of another one are not changes of these. */
  readonly sandbox: string;
}

const checkoutArguments = ({ accountId, sessionId, artistId, sandbox }: Checkout) => ({
  accountId,
  sessionId,
  artistId,
  sandbox,
});

const missing = refusalOf({ missing: appError("not_found", "Workspace not found") });

interface UseOfWorkspace {
  readonly is_current: boolean;
  readonly is_dirty: boolean;
  /** The files that were written from the words of strangers. */
  readonly untrusted: readonly UntrustedSource[];
}

/**
 * Notes that a turn is about to use the files of its sandbox.
 * @param writes whether it may change them
 * @returns whether the sandbox has all files of the workspace and none that is to be stored, and whether an
 * earlier turn may have left some
 */
export function beginUse(
  db: Database,
  checkout: Checkout,
  writes: boolean,
): Promise<UseOfWorkspace | AppError> {
  const args = { ...checkoutArguments(checkout), writes };
  const begun = z.object({
    is_current: z.boolean(),
    is_dirty: z.boolean(),
    untrusted: z.array(untrustedSource),
  });
  return call(db, "begin_workspace_use", args, z.union([begun, missing]));
}

const givenFile = z.object({
  path: z.string(),
  version: z.number(),
  sha256: z.string(),
  bytes: z.number(),
  modified_at: z.string(),
});
/** A file of the sandbox, and the version of the workspace that it is based on. */
export type GivenFile = z.output<typeof givenFile>;

const currentFile = z.object({
  path: z.string(),
  version: z.number(),
  sha256: z.string(),
  bytes: z.number(),
  workspace_id: z.string(),
  content_id: z.string(),
});
export type CurrentFile = z.output<typeof currentFile>;

const conflict = z.object({ path: z.string(), stored_as: z.string() });

const loaded = z.object({
  revision: z.number(),
  /** Whether the sandbox has the files of another workspace. */
  is_foreign: z.boolean(),
  given: z.array(givenFile),
  files: z.array(currentFile),
  /** Only the conflicts of this run. */
  conflicts: z.array(conflict),
});
export type LoadedCheckout = z.output<typeof loaded>;

export function loadCheckout(
  db: Database,
  checkout: Checkout,
  runId: string,
): Promise<LoadedCheckout | AppError> {
  const args = { ...checkoutArguments(checkout), runId };
  return call(db, "load_workspace_checkout", args, z.union([loaded, missing]));
}

/** @param isDirty whether a turn is about to change files */
export async function saveCheckout(
  db: Database,
  checkout: Checkout,
  revision: number,
  isDirty: boolean,
  given: readonly GivenFile[],
  removed: readonly string[],
): Promise<void> {
  const args = { ...checkoutArguments(checkout), revision, isDirty, given, removed };
  await call(db, "save_workspace_checkout", args, z.unknown());
}
