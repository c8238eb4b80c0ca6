import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { projectRoot } from "./project-root.ts";

/** The folder in `DATA_DIR` of a restore in progress. */
export const RESTORING = "restoring";

export class DataDirUnusable extends Error {}

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
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : "unknown error";
    throw new DataDirUnusable(
      `DATA_DIR is ${dataDir}, which is not a folder that can be written to (${code}): ` +
        "set it to one that the user of the server may write to.",
      { cause },
    );
  }
}
