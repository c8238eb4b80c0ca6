/** The queries of the retention job. Every function here throws DatabaseUnavailable. */

import { z } from "zod";
import type { MediaKey } from "../content/storage/media-name.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";

const mediaKeys = z.array(z.object({ accountId: z.string(), name: z.string() }));

/** Leases a job. Returns false when a process does it now, or has done it within the interval. */
export function takeJob(
  db: Database,
  given: {
    readonly name: string;
    readonly holder: string;
    readonly leaseSeconds: number;
    readonly intervalSeconds: number;
  },
): Promise<boolean> {
  const args = {
    name: given.name,
    holder: given.holder,
    leaseSeconds: given.leaseSeconds,
    intervalSeconds: given.intervalSeconds,
  };
  return call(db, "take_job", args);
}

export async function endJob(db: Database, name: string, holder: string): Promise<void> {
  await call(db, "end_job", { name, holder });
}

/** Deletes at most `batch` rows of each kind, and returns the numbers of deleted rows by kind. */
export function sweepRowBatch(
  db: Database,
  batch: number,
  ages: { readonly inputDays: number; readonly connectionDays: number },
): Promise<Record<string, number>> {
  const args = { batch, inputDays: ages.inputDays, connectionDays: ages.connectionDays };
  return call(db, "sweep_rows", args, z.record(z.string(), z.int()));
}

/** The SQL functions that delete rows by their age alone. */
export type AgeSweep =
  | "sweep_deleted_identities"
  | "sweep_deliveries"
  | "sweep_requests"
  | "sweep_run_traces"
  | "sweep_trigger_events"
  | "sweep_webhook_deliveries";

/** Deletes at most `batch` rows that are older than so many days, and returns their number. */
export const sweepOlder = (
  db: Database,
  name: AgeSweep,
  batch: number,
  days: number,
): Promise<number> => call(db, name, { batch, days }, z.int());

/** Returns files that have not been checked against the storage for a day. */
export const mediaToCheck = (db: Database, batch: number): Promise<MediaKey[]> =>
  call(db, "media_to_check", { batch }, mediaKeys);

/**
 * Stores the size of a file.
 * @param bytes null when the storage does not have the file; its row is then deleted.
 */
export async function recordMediaCheck(
  db: Database,
  key: MediaKey,
  bytes: number | null,
): Promise<void> {
  await call(db, "note_media_check", { accountId: key.accountId, name: key.name, bytes });
}

/** Returns the given files that have no row. */
export const unownedMedia = (db: Database, files: readonly MediaKey[]): Promise<MediaKey[]> =>
  call(db, "unowned_media", { files }, mediaKeys);

/** Returns the given ids that belong to no session. */
export const unownedSandboxes = (db: Database, sessionIds: readonly string[]): Promise<string[]> =>
  call(db, "unowned_sandboxes", { sessionIds });

const idleSandbox = storedSandbox.extend({ sessionId: z.string(), accountId: z.string() });

/** Returns local sandboxes whose sessions have had no turn for so many days. */
export const idleSandboxes = (
  db: Database,
  days: number,
  batch: number,
): Promise<z.output<typeof idleSandbox>[]> =>
  call(db, "idle_sandboxes", { days, batch }, z.array(idleSandbox));

const turns = z.array(z.object({ turnId: z.string(), runId: z.string() }));

/** Returns turns that have been unfinished for more than a day, oldest first. */
export const unfinishedTurns = (db: Database, batch: number): Promise<z.output<typeof turns>> =>
  call(db, "unfinished_turns", { batch }, turns);

const reservations = z.array(z.object({ sessionId: z.string(), reservedAt: z.string() }));

/** Returns reservations of sandbox space that are older than an hour, oldest first. */
export const staleSandboxReservations = (
  db: Database,
  batch: number,
): Promise<z.output<typeof reservations>> =>
  call(db, "stale_sandbox_reservations", { batch }, reservations);

export type BatchSweep = "sweep_invitations" | "sweep_unsummed_usage" | "sweep_words";

/** Handles at most `batch` rows, and returns their number. */
export const sweepBatch = (db: Database, name: BatchSweep, batch: number): Promise<number> =>
  call(db, name, { batch }, z.int());

export const installationId = (db: Database): Promise<string> =>
  call(db, "installation_id", {}, z.string());
