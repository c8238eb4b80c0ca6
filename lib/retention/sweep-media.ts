import { settleRemoval } from "../content/media-store.ts";
import type { MediaKey } from "../content/storage/media-name.ts";
import { services } from "../platform/services.ts";
import { dueMediaRemovals, mediaToCheck, noteMediaCheck, unownedMedia } from "./store.ts";

const BATCH = 200;
const MAX_BATCHES = 20;
/** Longer than a generation can take between its reservation and its last byte. */
const GRACE_MS = 60 * 60 * 1000;

/** Removes the files of deleted rows, and returns their number. */
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
 * Measures files that have not been checked for a day, and deletes the rows of files that the storage
 * does not have. Returns the number of deleted rows.
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
 * Removes old files without a row from this machine's disk, and returns their number. A row is
 * created before its file, so a recent file without one belongs to a row that was just deleted.
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
