import { isUtf8 } from "node:buffer";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { openFolder } from "@platform/kit/open-folder";
import type { LeaveOut } from "./left-out.ts";

const PREFIX = ".backup-";
/** The longest name below `DATA_DIR`. Linux takes paths of 4,095 bytes: a restore may be into a longer one. */
const MAX_NAME_BYTES = 3_072;
/** Errors that commands can cause. With any other the machine is at fault, and the backup fails. */
const CAUSED_BY_COMMANDS = new Set(["EACCES", "ELOOP", "EMFILE", "EMLINK", "ENOTDIR"]);

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
 * several links is never changed by the local sandbox, which makes a copy first
 * (`packages/sandbox/src/adapters/local/session-fs.ts`).
 *
 * Commands may run during this, as the same user, and replace any folder by a link. So folders are opened
 * without following links, and only reached through their descriptors.
 *
 * @param leaveOut is called for entries that a backup cannot hold
 * @returns the folder of the links, which no command can reach; undefined if there are no sandboxes
 */
export function linkSandboxes(sandboxes: string, leaveOut: LeaveOut): string | undefined {
  const root = realRoot(sandboxes);
  if (root === undefined) return undefined;
  const links = join(root, `${PREFIX}${process.pid}`);
  mkdirSync(links, { mode: 0o700 });
  try {
    for (const entry of readdirSync(root, { withFileTypes: true })) {
      // Folders that are being created, deleted or backed up. `.installation` is a file.
      if (entry.isDirectory() && entry.name.startsWith(".")) continue;
      const place = { from: join(root, entry.name), to: join(links, entry.name) };
      linkEntry({ ...place, name: `sandboxes/${entry.name}` }, entry.isDirectory(), leaveOut);
    }
  } catch (error) {
    rmSync(links, { recursive: true, force: true });
    throw error;
  }
  return links;
}

interface Place {
  readonly from: string;
  readonly to: string;
  /** The path below `DATA_DIR`. */
  readonly name: string;
}

function linkEntry(place: Place, isDirectory: boolean, leaveOut: LeaveOut, retries = 20): void {
  const { name } = place;
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    leaveOut(name, "its path is too long");
    return;
  }
  try {
    if (isDirectory) linkFolder(place, leaveOut);
    else linkFile(place, leaveOut);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT" || code === "EEXIST") {
      // It was deleted, or renamed and therefore listed twice. Names that are not UTF-8 are not found.
      if (name.includes("\uFFFD")) leaveOut(name, "its name is not UTF-8");
    } else if (code === "EPERM" && !isDirectory && retries > 0) {
      // A folder cannot be linked: a command may have put it in the place of a file.
      const found = lstatSync(place.from, { throwIfNoEntry: false });
      if (found) linkEntry(place, found.isDirectory(), leaveOut, retries - 1);
    } else if (CAUSED_BY_COMMANDS.has(code)) leaveOut(name, `it cannot be read (${code})`);
    else throw error;
  }
}

function linkFolder({ from, to, name }: Place, leaveOut: LeaveOut): void {
  const folder = openFolder(from);
  try {
    mkdirSync(to, { mode: folder.mode | 0o700 });
    for (const entry of readdirSync(folder.path, { withFileTypes: true })) {
      const place = { from: join(folder.path, entry.name), to: join(to, entry.name) };
      linkEntry({ ...place, name: `${name}/${entry.name}` }, entry.isDirectory(), leaveOut);
    }
  } finally {
    folder.close();
  }
}

/** Links first and looks then: no command can replace the link. */
function linkFile({ from, to, name }: Place, leaveOut: LeaveOut): void {
  linkSync(from, to);
  const found = lstatSync(to);
  if (found.isFile()) return;
  const isLink = found.isSymbolicLink();
  if (isLink && isUtf8(readlinkSync(to, "buffer"))) return;
  unlinkSync(to);
  leaveOut(name, isLink ? "its target is not UTF-8" : "it is neither a file, a folder nor a link");
}

function realRoot(sandboxes: string): string | undefined {
  try {
    return realpathSync(sandboxes);
  } catch {
    return undefined;
  }
}
