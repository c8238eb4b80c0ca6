import { resolve } from "node:path";
import { findRunning } from "./embedded/find-running.ts";
import { DataDirInUse, startEmbedded } from "./embedded/start-embedded.ts";
import { projectRoot } from "./start-parts.ts";

/** Returns the folder with the data of the embedded parts. */
export const dataDirOf = (env: NodeJS.ProcessEnv): string =>
  resolve(projectRoot, env.DATA_DIR || ".data");

/** Connects to the embedded database of a running server, or starts the database. */
export async function reachEmbedded(
  dataDir: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  try {
    const embedded = await startEmbedded({ dataDir });
    return { url: embedded.databaseUrl, stop: embedded.stop };
  } catch (error) {
    const url = error instanceof DataDirInUse ? findRunning(dataDir) : undefined;
    if (url === undefined) throw error;
    return { url, stop: async () => {} };
  }
}
