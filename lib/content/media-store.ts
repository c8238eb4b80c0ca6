/**
 * The media ledger in the database (supabase/schemas/65_content.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import type { MediaKey } from "./storage/media-name.ts";

export interface SizedMedia {
  readonly key: MediaKey;
  readonly bytes: number;
}

/**
 * Adds the files of a run to the ledger before they are stored. Returns false when they exceed the
 * limit.
 *
 * @param limitBytes of all media of the account; 0 means no limit
 * @throws Error when the run is no longer active
 */
export async function reserveMedia(
  accountId: string,
  runId: string,
  files: readonly SizedMedia[],
  limitBytes: number,
): Promise<boolean> {
  const outcome = await call(
    "reserve_media",
    {
      p_account_id: accountId,
      p_run_id: runId,
      p_files: files.map(({ key, bytes }) => ({ name: key.name, bytes })),
      p_limit_bytes: limitBytes,
    },
    z.enum(["reserved", "full", "ended"]),
  );
  if (outcome === "ended") throw new Error(`The task run ${runId} has lost its lease`);
  return outcome === "reserved";
}

/**
 * Releases the reservation of an attempt at storing the results of a run, and the files that it may have
 * stored.
 *
 * @param urls of the results that stay
 */
export async function discardTornMedia(
  accountId: string,
  runId: string,
  urls: readonly string[],
): Promise<void> {
  const names = urls.map((url) => url.slice(url.lastIndexOf("/") + 1));
  const args = { p_account_id: accountId, p_run_id: runId, p_kept: names };
  await call("discard_run_media", args, z.int());
}

/** Counts files that a generation has made as usage, once. */
export async function recordGeneration(
  accountId: string,
  runId: string,
  kind: "image" | "video",
  credentialId: string | null,
  made: Readonly<Record<string, unknown>>,
): Promise<void> {
  await call(
    "record_generation",
    {
      p_account_id: accountId,
      p_run_id: runId,
      p_kind: kind,
      p_credential_id: credentialId,
      p_call: made,
    },
    z.null(),
  );
}

/** Returns false when there is no such file, or the caller may not act for its account. */
export function deleteMediaRow(callerId: string, key: MediaKey): Promise<boolean> {
  const args = { p_caller: callerId, p_account_id: key.accountId, p_name: key.name };
  return call("delete_media", args, z.boolean());
}

/** Records that the storage has removed a file whose row was deleted. */
export async function settleRemoval({ accountId, name }: MediaKey): Promise<void> {
  await call("settle_media_removal", { p_account_id: accountId, p_name: name }, z.null());
}
