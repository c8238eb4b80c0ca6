import { existsSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type BackupHeader, CHECKSUM, DUMP, HEADER, RESTORE_FILES } from "./archive-format.ts";
import { LeftOut } from "./left-out.ts";
import { linkSandboxes, removeLinks } from "./link-sandboxes.ts";
import { interruption } from "./preconditions.ts";
import { type Archive, type Skips, writeArchive } from "./write-archive.ts";

/** Folders and files of `DATA_DIR` that are added by themselves, or that no installation needs. */
const skips: Skips = (name) =>
  OWN_FILES.includes(name) ||
  /^(postgres|sandboxes|logs|content-work)$|^(postgres[.-]|lock-|secrets\.json\.)/.test(name)
    ? "all"
    : "nothing";
/** Names that mean something else in an archive. */
const OWN_FILES = [HEADER, CHECKSUM, DUMP, ...RESTORE_FILES];

/**
 * Adds a database to an archive.
 *
 * @param describe is called first, for the head of the archive
 * @param freeze copies the files that must match the tool records of the copy. No tool call of any turn may start or
 *   end during this, so it must be quick.
 */
export type CopyDatabase = (
  archive: Archive,
  describe: (snapshot: Snapshot) => Promise<void>,
  freeze: () => void,
) => Promise<void>;
type Snapshot = BackupHeader extends infer Header
  ? Header extends BackupHeader
    ? Omit<Header, "createdAt">
    : never
  : never;

/**
 * Returns the path of the archive to write.
 * @throws Error when it exists or is in the folder that it is to hold
 */
export function archivePath(given: string | undefined, dataDir: string): string {
  const name = `backup-${new Date().toISOString().replaceAll(":", "-")}.tar.gz`;
  const file = resolve(process.env.INIT_CWD ?? ".", given ?? name);
  if (existsSync(file)) throw new Error(`${file} exists. Name another file.`);
  if (!relative(dataDir, file).startsWith("..")) {
    throw new Error(`${file} is inside of DATA_DIR, which is to be backed up. Name another file.`);
  }
  return file;
}

/**
 * Writes an installation to `file`, while servers run or not. The order of the parts is explained in docs/deploy.md.
 *
 * @returns the exit code
 */
export async function writeBackup(
  file: string,
  dataDir: string,
  open: (signal: AbortSignal) => Promise<{ copy: CopyDatabase; stop(): Promise<void> }>,
): Promise<number> {
  const started = performance.now();
  const { signal, end } = interruption();
  const database = await open(signal);
  const leftOut = new LeftOut();
  try {
    const bytes = await writeArchive(
      file,
      (archive) => fill(archive, dataDir, database.copy, leftOut),
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
  copyDatabase: CopyDatabase,
  leftOut: LeftOut,
): Promise<void> {
  const sandboxes = join(dataDir, "sandboxes");
  let links: string | undefined;
  try {
    await copyDatabase(
      archive,
      async (snapshot) => {
        // Only now, because another backup may have been running.
        removeLinks(sandboxes);
        await archive.addHeader({ ...snapshot, createdAt: new Date().toISOString() });
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
