import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { dueRemovals, endRemoval, type Removal } from "../content/removals.ts";
import type { MediaKey } from "../content/storage/media-name.ts";
import { mailboxFolder } from "../mail/mailbox-folder.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { mediaToCheck, recordMediaCheck, unownedMedia } from "./store.ts";

const BATCH = 200;
const MAX_BATCHES = 20;
/** Longer than a generation can take between its reservation and its last byte. */
const GRACE_MS = 60 * 60 * 1000;

/** Removes files whose rows were deleted, and returns their number. */
async function removeFiles(
  db: Database,
  kind: "media" | "content",
  remove: (removal: Removal) => Promise<void>,
): Promise<number> {
  let removed = 0;
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const due = await dueRemovals(db, kind, BATCH);
    for (const removal of due) {
      await remove(removal);
      await endRemoval(db, kind, removal);
      removed += 1;
    }
    if (due.length < BATCH) break;
  }
  return removed;
}

export const removeDeletedMedia = ({ db, mediaStorage }: Parts<"db" | "mediaStorage">) =>
  removeFiles(db, "media", ({ ownerId: accountId, name }) =>
    mediaStorage.remove({ accountId, name }),
  );

/** Removes the contents of workspaces that no version has. */
export const removeUnusedContents = ({ db, contentStorage }: Parts<"db" | "contentStorage">) =>
  removeFiles(db, "content", ({ ownerId: workspaceId, name: contentId }) =>
    contentStorage.remove({ workspaceId, contentId }),
  );

/**
 * Measures files that have not been checked for a day, and deletes the rows of files that the storage
 * does not have. Returns the number of deleted rows.
 */
export async function checkMediaRows({
  db,
  mediaStorage,
}: Parts<"db" | "mediaStorage">): Promise<number> {
  let deleted = 0;
  for (const key of await mediaToCheck(db, BATCH)) {
    const bytes = await mediaStorage.sizeOf(key);
    await recordMediaCheck(db, key, bytes);
    if (bytes === null) deleted += 1;
  }
  return deleted;
}

/**
 * Removes old files without a row from this machine's disk, and returns their number. A row is
 * created before its file, so a recent file without one belongs to a row that was just deleted.
 */
export async function removeUnownedMedia({
  db,
  mediaStorage,
}: Parts<"db" | "mediaStorage">): Promise<number> {
  let removed = 0;
  let batch: MediaKey[] = [];
  const flush = async () => {
    for (const key of batch.length > 0 ? await unownedMedia(db, batch) : []) {
      await mediaStorage.remove(key);
      removed += 1;
    }
    batch = [];
  };
  for await (const key of mediaStorage.filesOlderThan(GRACE_MS)) {
    batch.push(key);
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  return removed;
}

const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** One pass checks at most this many files. Names start with the time, so the oldest come first. */
const MAX_FILES = 10_000;

/** Deletes old mails and unfinished files from the mailbox folder, and returns their number. */
export async function sweepMailbox({ mail }: Parts<"mail">): Promise<number> {
  if (mail.name !== "mailbox") return 0;
  const folder = mailboxFolder();
  const oldest = Date.now() - RETENTION_MS;
  // The first mail creates the folder.
  const names = await readdir(folder).catch((): string[] => []);
  let deleted = 0;
  for (const name of names.sort().slice(0, MAX_FILES)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile() || found.mtimeMs >= oldest) continue;
    await rm(path, { force: true });
    deleted += 1;
  }
  return deleted;
}
