import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { openDataDir, unusable } from "../data-dir.ts";

export class DataDirInUse extends Error {}

/**
 * Creates `dataDir` if it does not exist, and locks it for this process until it exits or calls `release()`, which is idempotent.
 *
 * The lock is SQLite's file lock, which the kernel releases with its holder. A file with a pid would
 * survive a kill -9 and, after a restart of the machine, name an unrelated process.
 *
 * @throws DataDirInUse when another process holds the lock
 * @throws DataDirUnusable when the folder cannot be written to
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  openDataDir(dataDir);
  const holder = join(dataDir, "lock.pid");
  const database = await takeLock(join(dataDir, "lock")).catch((error: unknown) => {
    throw unusable(dataDir, error);
  });
  if (database === undefined) {
    throw new DataDirInUse(
      `Another process (${readHolder(holder)}) is using the data in ${dataDir}.\n` +
        "Stop it first, or set DATA_DIR and PORT to other values.",
    );
  }
  try {
    writeFileSync(holder, String(process.pid));
  } catch (error) {
    database.close();
    throw unusable(dataDir, error);
  }
  return {
    release: () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Resolves to undefined when another process holds the lock. */
async function takeLock(file: string): Promise<DatabaseSync | undefined> {
  // A holder that has just been killed may still be exiting.
  for (const end = Date.now() + 2_000; Date.now() < end; await delay(100)) {
    const database = new DatabaseSync(file);
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
      return database;
    } catch (error) {
      database.close();
      if (!isHeld(error)) throw error;
    }
  }
  return undefined;
}

const SQLITE_BUSY = 5;
const isHeld = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;

function readHolder(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "unknown";
  }
}
