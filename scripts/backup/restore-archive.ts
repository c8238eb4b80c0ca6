import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { dataDirOf, openDataDir, RESTORING } from "../data-dir.ts";
import { listMigrations } from "../embedded/list-migrations.ts";
import { lockDataDir } from "../embedded/lock-data-dir.ts";
import { isReplaced } from "../embedded/upgrade-to-baseline.ts";
import { projectRoot } from "../project-root.ts";
import { type BackupHeader, DUMP, RESTORE_FILES } from "./archive-format.ts";
import { interruption } from "./preconditions.ts";
import { readArchive } from "./read-archive.ts";

export interface RestoredDatabase {
  /** @throws Error when the database of this backup cannot be restored here */
  readonly check: (header: BackupHeader) => void;
  /** Makes the database ready to serve, once the whole archive has been verified and unpacked to `draft`. */
  readonly complete: (draft: string, signal: AbortSignal) => Promise<void>;
}

/**
 * Makes `DATA_DIR`, which must be empty or missing, the installation that the backup holds. It is there
 * completely, or not at all.
 *
 * @returns the exit code
 */
export async function restoreArchive(
  given: string,
  startCommand: string,
  { check, complete }: RestoredDatabase,
): Promise<number> {
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
    const checkAll = (found: BackupHeader) => {
      check(found);
      refuseNewer(found);
      header = found;
    };
    await readArchive(file, draft, checkAll, signal).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(`${file} cannot be restored: ${reason}`, { cause: error });
    });
    await complete(draft, signal);
    rmSync(join(draft, DUMP), { force: true });
    for (const name of readdirSync(draft)) {
      renameSync(join(draft, name), join(dataDir, name));
      made.push(join(dataDir, name));
    }
    rmdirSync(draft);
    console.log(
      `Restored ${dataDir} from the backup of ${header?.createdAt}.\n` +
        `\`${startCommand}\` continues the turns that were in flight. Do not let the installation that the backup ` +
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

function refuseNewer({ migrations, createdAt }: BackupHeader): void {
  const known = new Set(
    listMigrations(join(projectRoot, "supabase")).map(({ version }) => version),
  );
  const unknown = migrations.filter((version) => !known.has(version));
  if (unknown.length === 0 || isReplaced(migrations)) return;
  throw new Error(
    `The backup of ${createdAt} is of a newer version of the code: this one does not have the ` +
      `migrations ${unknown.join(", ")}. Restore it with the version that made it, or a later one.`,
  );
}
