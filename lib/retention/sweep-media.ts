/** Files whose row is gone, rows whose file is gone, and files that never had a row. */

import { settleRemoval } from "../content/media-store.ts";
import type { MediaKey } from "../content/storage/media-name.ts";
import { services } from "../platform/services.ts";
import { dueMediaRemovals, mediaToCheck, noteMediaCheck, unownedMedia } from "./store.ts";

const BATCH = 200;
const MAX_BATCHES = 20;
/** Milliseconds; longer than a generation may take between its reservation and its last byte. */
const GRACE_MS = 60 * 60 * 1000;

/** Removes the files of deleted rows. Returns how many. */
export async function removeDeletedMedia(): Promise<number> {
  const storage = services().media;
  let removed = 0;
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const due = await dueMediaRemovals(BATCH);
    for (const key of due) {
      await storage.remove(key);
      await settleRemoval(key);
      removed += 1;
    }
    if (due.length < BATCH) break;
  }
  return removed;
}

/**
 * Asks the storage about files that have not been looked at for a day: measures them, and deletes
 * the rows of those that it does not have. Returns how many rows.
 */
export async function checkMediaRows(): Promise<number> {
  const storage = services().media;
  let deleted = 0;
  for (const key of await mediaToCheck(BATCH)) {
    const bytes = await storage.sizeOf(key);
    await noteMediaCheck(key, bytes);
    if (bytes === null) deleted += 1;
  }
  return deleted;
}

/**
 * Removes files of this machine's disk that have no row. A row is there before its file, so a young
 * file without one belongs to a row that was deleted a moment ago. Returns how many.
 */
export async function removeUnownedMedia(): Promise<number> {
  const storage = services().media;
  let removed = 0;
  let batch: MediaKey[] = [];
  const flush = async () => {
    for (const key of batch.length > 0 ? await unownedMedia(batch) : []) {
      await storage.remove(key);
      removed += 1;
    }
    batch = [];
  };
  for await (const key of storage.filesOlderThan(GRACE_MS)) {
    batch.push(key);
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  return removed;
}
