import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";

const PREFIX = ".backup-";

/** Removes the leftovers of a killed backup in the folder of the sandboxes. */
export function removeLinks(sandboxes: string): void {
  const root = realRoot(sandboxes);
  for (const name of root === undefined ? [] : readdirSync(root)) {
    if (root !== undefined && name.startsWith(PREFIX))
      rmSync(join(root, name), { recursive: true });
  }
}

/**
 * Makes hard links to all files of all sandboxes, which takes about 15 ms for a thousand. A file with
 * several links is never changed: its sandbox gets a copy first
 * (`lib/sandbox/adapters/local/session-fs.ts`).
 *
 * @returns the folder of the links; undefined when there are no sandboxes
 */
export function linkSandboxes(sandboxes: string): string | undefined {
  const root = realRoot(sandboxes);
  if (root === undefined) return undefined;
  const links = join(root, `${PREFIX}${process.pid}`);
  mkdirSync(links, { mode: 0o700 });
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    // Folders that are being created, deleted or backed up. `.installation` is a file.
    if (entry.isDirectory() && entry.name.startsWith(".")) continue;
    linkInto(join(root, entry.name), join(links, entry.name), entry.isDirectory());
  }
  return links;
}

function linkInto(from: string, to: string, isDirectory: boolean): void {
  try {
    if (!isDirectory) {
      linkSync(from, to);
      return;
    }
    const { mode } = statSync(from);
    mkdirSync(to, { mode: mode | 0o700 });
    // A command may have taken all rights from everybody.
    const isClosed = (mode & 0o500) !== 0o500;
    if (isClosed) chmodSync(from, mode | 0o700);
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      linkInto(join(from, entry.name), join(to, entry.name), entry.isDirectory());
    }
    if (isClosed) chmodSync(from, mode);
  } catch (error) {
    // It was deleted in the meantime.
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

function realRoot(sandboxes: string): string | undefined {
  try {
    return realpathSync(sandboxes);
  } catch {
    return undefined;
  }
}
