import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

export class DataDirInUse extends Error {}

/**
 * Holds `dataDir` for this process until `release()`, which may be repeated, or the process's end, however it ends.
 *
 * The lock is SQLite's file lock, which the kernel drops with its holder: a file with a process id
 * would outlive a kill -9 and, after a restart of the machine, name a stranger.
 *
 * @throws DataDirInUse when another process holds it.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): void }> {
  const holder = join(dataDir, "lock.pid");
  const database = await takeLock(join(dataDir, "lock"));
  if (database === undefined) {
    throw new DataDirInUse(
      `Another copy (process ${readHolder(holder)}) is running with the data in ${dataDir}.\n` +
        "Stop it first, or start this one with other values of DATA_DIR and PORT.",
    );
  }
  writeFileSync(holder, String(process.pid));
  return {
    release: () => {
      if (database.isOpen) database.close();
    },
  };
}

async function takeLock(file: string): Promise<DatabaseSync | undefined> {
  // A holder that was killed a moment ago may still be on its way out.
  for (const end = Date.now() + 2_000; Date.now() < end; await delay(100)) {
    const database = new DatabaseSync(file);
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
      return database;
    } catch {
      database.close();
    }
  }
  return undefined;
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "unknown";
  }
}
