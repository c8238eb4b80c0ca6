import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { dataDirOf } from "../data-dir.ts";
import { findRunning } from "../embedded/find-running.ts";
import { keepSecrets } from "../embedded/keep-secrets.ts";
import { DataDirInUse, lockDataDir } from "../embedded/lock-data-dir.ts";
import { runPostgres } from "../embedded/run-postgres.ts";
import { CHECKSUM, HEADER, RESTORE_FILES } from "./archive-format.ts";
import { copyCluster } from "./copy-cluster.ts";
import { LeftOut } from "./left-out.ts";
import { linkSandboxes, removeLinks } from "./link-sandboxes.ts";
import { interruption, refuseHosted } from "./preconditions.ts";
import { type Archive, type Skips, writeArchive } from "./write-archive.ts";

/** Folders and files of `DATA_DIR` that are added by themselves, or that no installation needs. */
const skips: Skips = (name) =>
  OWN_FILES.includes(name) ||
  /^(postgres|sandboxes|logs|content-work)$|^(postgres[.-]|lock-|secrets\.json\.)/.test(name)
    ? "all"
    : "nothing";
/** Names that mean something else in an archive. */
const OWN_FILES = [HEADER, CHECKSUM, ...RESTORE_FILES];

/**
 * `npm run backup [-- FILE]`: writes the whole embedded installation to one archive, while the server
 * runs or not. The order of the parts is explained in docs/deploy.md.
 *
 * @returns the exit code
 */
export async function createBackup([given]: readonly string[]): Promise<number> {
  refuseHosted();
  const dataDir = dataDirOf(process.env);
  const name = `backup-${new Date().toISOString().replaceAll(":", "-")}.tar.gz`;
  const file = resolve(process.env.INIT_CWD ?? ".", given ?? name);
  if (!existsSync(join(dataDir, "postgres", "PG_VERSION"))) {
    throw new Error(`There is no installation in ${dataDir}. Set DATA_DIR to its folder.`);
  }
  if (existsSync(file)) throw new Error(`${file} exists. Name another file.`);
  if (!relative(dataDir, file).startsWith("..")) {
    throw new Error(`${file} is inside of DATA_DIR, which is to be backed up. Name another file.`);
  }

  const started = performance.now();
  const { signal, end } = interruption();
  const database = await reachCluster(dataDir);
  const leftOut = new LeftOut();
  try {
    const bytes = await writeArchive(
      file,
      (archive) => fill(archive, dataDir, database.url, leftOut),
      signal,
    );
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(
      `Backed up ${dataDir} to ${file} (${(bytes / 1e6).toFixed(1)} MB in ${seconds} s).\n` +
        "The file contains the secrets of the installation: keep it where only you can read it.",
    );
    const summary = leftOut.summary();
    if (summary !== undefined) console.error(summary);
    return 0;
  } finally {
    await database.stop();
    end();
  }
}

async function fill(
  archive: Archive,
  dataDir: string,
  url: string,
  leftOut: LeftOut,
): Promise<void> {
  const sandboxes = join(dataDir, "sandboxes");
  let links: string | undefined;
  try {
    await copyCluster(
      { url, folder: join(dataDir, "postgres") },
      archive,
      async (snapshot) => {
        // Only now, because another backup may have been running.
        removeLinks(sandboxes);
        const createdAt = new Date().toISOString();
        await archive.addHeader({ format: 1, createdAt, ...snapshot });
      },
      () => {
        links = linkSandboxes(sandboxes, leftOut.add);
      },
    );
    if (links !== undefined) await archive.addFolder(links, "sandboxes", undefined, leftOut.add);
    // A file that a row of the snapshot names is there by now, unless it was deleted since.
    await archive.addFolder(dataDir, "", skips);
  } finally {
    if (links !== undefined) rmSync(links, { recursive: true, force: true });
  }
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
