/**
 * How much of the quota is used. Reservations only add, so the figure is an upper bound that costs
 * nothing to maintain. The folder is measured only when the bound reaches the limit, which accounts
 * for deletions and for the writes of another server process.
 */
import { lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { QUOTA_REACHED } from "./protocol.ts";

/** The prefix of the shell's temporary files, which remain when a command is killed. */
export const UNFINISHED_PREFIX = ".just-bash-write-";
const MAX_WRITE_MS = 60_000;
/** The prefix of uploads in the session's own folder, which remain when their server dies. */
export const STAGED_PREFIX = ".upload-";
const MAX_UPLOAD_MS = 60 * 60_000;

export class DiskUsage {
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #bytes = Number.POSITIVE_INFINITY;
  #files = Number.POSITIVE_INFINITY;

  constructor(root: string, maxBytes: number, maxFiles: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  /** Throws an `ENOSPC` error when the bytes or the files do not fit. */
  async reserve(bytes: number, files: number): Promise<void> {
    if (!this.#fits(bytes, files)) {
      // A write that is larger than the whole quota is refused without a measurement.
      if (bytes <= this.#maxBytes) await this.#measure();
      if (!this.#fits(bytes, files)) throw new Error(QUOTA_REACHED);
    }
    this.#bytes += bytes;
    this.#files += files;
  }

  /** Throws an `ENOSPC` error when more files, or the bytes that are there already, do not fit. */
  async admit(files: number): Promise<void> {
    await this.#measure();
    await this.reserve(0, files);
  }

  #fits(bytes: number, files: number): boolean {
    return this.#bytes + bytes <= this.#maxBytes && this.#files + files <= this.#maxFiles;
  }

  async #measure(): Promise<void> {
    ({ bytes: this.#bytes, files: this.#files } = await measureFolder(this.#root));
  }
}

/**
 * Walks the whole folder, or as many entries as are given. Throws when it does not exist, or when a
 * folder in it cannot be read.
 */
export async function measureFolder(
  root: string,
  maxFiles = Number.POSITIVE_INFINITY,
): Promise<{ bytes: number; files: number }> {
  let bytes = 0;
  let files = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder).catch((error: unknown) => {
      // A folder that is deleted during the walk takes no space.
      if (folder === root || !hasCode(error, "ENOENT")) throw error;
      return [];
    });
    for await (const entry of entries) {
      if (files === maxFiles) return { bytes, files };
      files += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else bytes += await sizeOf(path, maxAgeOf(entry.name, folder === root));
    }
  }
  return { bytes, files };
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** Returns after how long without a change a file is left over, in milliseconds. */
function maxAgeOf(name: string, isBesideHome: boolean): number {
  if (name.startsWith(UNFINISHED_PREFIX)) return MAX_WRITE_MS;
  return isBesideHome && name.startsWith(STAGED_PREFIX) ? MAX_UPLOAD_MS : Number.POSITIVE_INFINITY;
}

async function sizeOf(path: string, maxAgeMs: number): Promise<number> {
  // A file that is deleted during the walk takes no space.
  const file = await lstat(path).catch(() => undefined);
  if (!file) return 0;
  if (Date.now() - file.mtimeMs < maxAgeMs) return file.size;
  await rm(path, { force: true });
  return 0;
}
