import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export class DataDirInUse extends Error {}

/**
 * Holds `dataDir` for this process until `release()`, which may be repeated, or the process's end, however it ends.
 *
 * The lock is SQLite's file lock, which the kernel drops with its holder: a file with a process id
 * would outlive a kill -9 and, after a restart of the machine, name a stranger.
 *
 * @throws DataDirInUse when another process holds it.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  const holder = join(dataDir, "lock.pid");
  const database = new DatabaseSync(join(dataDir, "lock"));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch {
    database.close();
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

function readHolder(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "unknown";
  }
}
