/**
 * How much of the quota is taken. Reservations only ever add, so the figure is an upper bound that
 * costs nothing to keep; the folder is walked only when that bound meets the limit. Deletions, and
 * writes of another server process on the same session, are found by that walk.
 */
import { lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the shell writes before it renames; what is left of one is of a command that was killed. */
const UNFINISHED = /^\.just-bash-write-/;
const LONGEST_WRITE_MS = 60_000;

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

  /** @throws Error `ENOSPC` when the bytes or the entries would not fit. */
  async reserve(bytes: number, files: number): Promise<void> {
    if (!this.#fits(bytes, files)) {
      // A write that is larger than the whole quota needs no walk to be refused.
      if (bytes <= this.#maxBytes) await this.#measure();
      if (!this.#fits(bytes, files)) throw new Error("ENOSPC: no space left on device");
    }
    this.#bytes += bytes;
    this.#files += files;
  }

  #fits(bytes: number, files: number): boolean {
    return this.#bytes + bytes <= this.#maxBytes && this.#files + files <= this.#maxFiles;
  }

  async #measure(): Promise<void> {
    ({ bytes: this.#bytes, files: this.#files } = await measureFolder(this.#root));
  }
}

/** Walks the whole folder. @throws Error when it is not there */
export async function measureFolder(root: string): Promise<{ bytes: number; files: number }> {
  let bytes = 0;
  let files = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(folder)) {
      files += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else bytes += await sizeOf(path, entry.name);
    }
  }
  return { bytes, files };
}

async function sizeOf(path: string, name: string): Promise<number> {
  // A file that vanishes under the walk takes no space.
  const file = await lstat(path).catch(() => undefined);
  if (!file) return 0;
  if (!UNFINISHED.test(name) || Date.now() - file.mtimeMs < LONGEST_WRITE_MS) return file.size;
  await rm(path, { force: true });
  return 0;
}
