import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { projectRoot } from "./project-root.ts";

/** The folder in `DATA_DIR` of a restore in progress. */
export const RESTORING = "restoring";

export class DataDirUnusable extends Error {}

/** More than a file system stores beside the name of a file. */
const PROBE_BYTES = 64 * 1024;
const FULL_DISK = ["ENOSPC", "EDQUOT"];

/** Returns the folder with the data of the embedded parts. */
export const dataDirOf = (env: NodeJS.ProcessEnv): string =>
  resolve(projectRoot, env.DATA_DIR || ".data");

/**
 * Creates `dataDir` if it does not exist.
 * @throws DataDirUnusable when it cannot be created or written to, with the remedy
 */
export function openDataDir(dataDir: string): void {
  const probe = join(dataDir, `.probe-${randomUUID()}`);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    try {
      // A disk that is full still takes empty files.
      writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { flag: "wx" });
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (cause) {
    throw unusable(dataDir, cause);
  }
}

/** Returns the error of a folder that cannot be written to, with the remedy. */
export function unusable(dataDir: string, cause: unknown): DataDirUnusable {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  const text =
    FULL_DISK.includes(code) || /\bdisk is full\b/.test(String(cause))
      ? `DATA_DIR is ${dataDir}, whose disk or quota is full (${code}): free some space, and start again.`
      : `DATA_DIR is ${dataDir}, which is not a folder that can be written to (${code}): ` +
        "set it to one that the user of the server may write to.";
  return new DataDirUnusable(text, { cause });
}
