/** Measures the files of a session from outside of its sandbox, while commands change them. */
import type { Dirent } from "node:fs";
import { lstat, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type OpenFolder, openFolder } from "@platform/kit/open-folder";
import { hasCode, maxAgeOf } from "./disk-usage.ts";

/** The limit for open folders. Only a tree that is made to exceed it does so: a mere depth takes two. */
const MAX_OPEN_FOLDERS = 256;
const BLOCK_BYTES = 512;

/** The size of files. */
export interface Measured {
  /** The sum of the sizes, or of the room on disk where a file takes clearly more. */
  readonly bytes: number;
  /** The number of files and folders. */
  readonly files: number;
}

/**
 * Walks the whole folder, or as many entries as are given. Folders are reached through descriptors: a command that
 * replaces one by a link leads nowhere else, and paths may be of any length. An entry that vanishes counts as nothing.
 *
 * @throws Error with the code ENOENT if the folder does not exist, or any other if something in it cannot be measured
 */
export async function measureFolder(
  root: string,
  maxFiles = Number.POSITIVE_INFINITY,
): Promise<Measured> {
  let bytes = 0;
  let files = 0;
  const opened = new Set<WalkedFolder>();
  const pending: { readonly path: string; readonly parent?: WalkedFolder }[] = [{ path: root }];
  const close = (folder: WalkedFolder) => {
    opened.delete(folder);
    folder.close();
  };
  try {
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { path, parent } = next;
      if (opened.size === MAX_OPEN_FOLDERS) throw new Error("The folder has too many branches");
      const folder = await unlessGone<WalkedFolder>(
        () => ({ ...openFolder(path), pending: 0 }),
        parent === undefined,
      );
      if (folder) opened.add(folder);
      if (parent && --parent.pending === 0) close(parent);
      if (!folder) continue;
      for await (const entry of entriesOf(folder, parent === undefined)) {
        if (files === maxFiles) return { bytes, files };
        files += 1;
        const inner = join(folder.path, entry.name);
        if (entry.isDirectory()) {
          folder.pending += 1;
          pending.push({ path: inner, parent: folder });
        } else bytes += await measureFile(inner, maxAgeOf(entry.name, parent === undefined));
      }
      if (folder.pending === 0) close(folder);
    }
    return { bytes, files };
  } finally {
    for (const folder of opened) folder.close();
  }
}

/** A folder that is open until the last folder in it has been opened, and how many have yet to be. */
interface WalkedFolder extends OpenFolder {
  pending: number;
}

async function* entriesOf(folder: WalkedFolder, isRoot: boolean): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder.path);
  } catch (error) {
    if (isRoot || !isGone(error)) throw error;
  }
}

async function measureFile(path: string, maxAgeMs: number): Promise<number> {
  const file = await unlessGone(() => lstat(path));
  if (!file) return 0;
  if (Date.now() - file.mtimeMs >= maxAgeMs && (await isRemoved(path))) return 0;
  // A file can have room beyond its end. Its last block and the list of its blocks are not meant.
  const padding = 4096 + file.size / 256;
  return Math.max(file.size, Math.floor(file.blocks * BLOCK_BYTES - padding));
}

const isRemoved = (path: string): Promise<boolean> =>
  unlink(path).then(
    () => true,
    () => false,
  );

/** Returns undefined for an entry that was deleted or replaced during the walk. */
async function unlessGone<T>(read: () => T | Promise<T>, isRoot = false): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isRoot || !isGone(error)) throw error;
    return undefined;
  }
}

const isGone = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR", "ELOOP"].some((code) => hasCode(error, code));
