import { dataDirOf } from "./data-dir.ts";
import { findRunning } from "./embedded/find-running.ts";
import { DataDirInUse, startEmbedded } from "./embedded/start-embedded.ts";

export interface ReachedDatabase {
  readonly url: string;
  /** Stops it, if it was started for this command. */
  stop(): Promise<void>;
}

/** Connects to the embedded database of a running server, or starts the database. */
export async function reachEmbedded(): Promise<ReachedDatabase> {
  const dataDir = dataDirOf(process.env);
  try {
    const embedded = await startEmbedded({ dataDir });
    return { url: embedded.databaseUrl, stop: embedded.stop };
  } catch (error) {
    const url = error instanceof DataDirInUse ? findRunning(dataDir) : undefined;
    if (url === undefined) throw error;
    return { url, stop: async () => {} };
  }
}
