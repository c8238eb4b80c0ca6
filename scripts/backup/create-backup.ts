import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { dataDirOf } from "../data-dir.ts";
import { findRunning } from "../embedded/find-running.ts";
import { keepSecrets } from "../embedded/keep-secrets.ts";
import { DataDirInUse, lockDataDir } from "../embedded/lock-data-dir.ts";
import { runPostgres } from "../embedded/run-postgres.ts";
import { copyCluster } from "./copy-cluster.ts";
import { refuseHosted } from "./preconditions.ts";
import { archivePath, writeBackup } from "./write-backup.ts";

/**
 * `npm run backup [-- FILE]`: writes the whole embedded installation to one archive, while the server
 * runs or not. The order of the parts is explained in docs/deploy.md.
 *
 * @returns the exit code
 */
export async function createBackup([given]: readonly string[]): Promise<number> {
  refuseHosted();
  const dataDir = dataDirOf(process.env);
  const file = archivePath(given, dataDir);
  if (!existsSync(join(dataDir, "postgres", "PG_VERSION"))) {
    throw new Error(`There is no installation in ${dataDir}. Set DATA_DIR to its folder.`);
  }
  return writeBackup(file, dataDir, async () => {
    const { url, stop } = await reachCluster(dataDir);
    const cluster = { url, folder: join(dataDir, "postgres") };
    return { copy: (...parts) => copyCluster(cluster, ...parts), stop };
  });
}

/** Connects to the PostgreSQL of the running server, or starts only that: nothing is migrated. */
async function reachCluster(dataDir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const lock = await lockDataDir(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirInUse) return error;
    throw error;
  });
  if (lock instanceof DataDirInUse) {
    const url = findRunning(dataDir);
    if (url === undefined) throw lock;
    return { url, stop: async () => {} };
  }
  try {
    mkdirSync(join(dataDir, "logs"), { recursive: true, mode: 0o700 });
    const running = await runPostgres({
      dataDir,
      password: keepSecrets(dataDir).postgresPassword,
      logFile: join(dataDir, "logs", "postgres.log"),
    });
    const stop = () => running.stop().finally(() => lock.release());
    return { url: running.url, stop };
  } catch (error) {
    lock.release();
    throw error;
  }
}
