/**
 * The used part of the quota. Reservations only add, so the figure costs nothing to maintain. The folder is
 * measured when it reaches the limit, which accounts for deletions, and each time that a part of the quota
 * has been reserved, which bounds concurrent writes by another server or by file changes during a command.
 */
import { type Dirent, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The quota's error. Errors of the file system itself name the system call after a comma. */
export const QUOTA_REACHED = "ENOSPC: no space left on device";

/** The prefix of the shell's temporary files, which remain when a command is killed. */
export const UNFINISHED_PREFIX = ".just-bash-write-";
const MAX_WRITE_MS = 60_000;
/** The prefix of uploads in the session's own folder, which remain when their server dies. */
export const STAGED_PREFIX = ".upload-";
const MAX_UPLOAD_MS = 60 * 60_000;
/** The part of the quota that is reserved without a measurement. */
const UNMEASURED = 1 / 8;

/** Synchronous, because programs in WebAssembly write synchronously. */
export class DiskUsage {
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #bytes = Number.POSITIVE_INFINITY;
  #files = Number.POSITIVE_INFINITY;
  /** Reserved since the last measurement, as a part of the quota. */
  #sinceMeasured = 0;

  constructor(root: string, maxBytes: number, maxFiles: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  /** Throws an `ENOSPC` error when the bytes or the files do not fit. */
  reserve(bytes: number, files: number): void {
    this.#sinceMeasured += bytes / Math.max(1, this.#maxBytes) + files / this.#maxFiles;
    if (!this.#fits(bytes, files) || this.#sinceMeasured > UNMEASURED) {
      // A write that is larger than the whole quota is refused without a measurement.
      if (bytes <= this.#maxBytes) this.#measure();
      if (!this.#fits(bytes, files)) throw new Error(QUOTA_REACHED);
    }
    this.#bytes += bytes;
    this.#files += files;
  }

  /** Throws an `ENOSPC` error when more files, or the bytes that are there already, do not fit. */
  admit(files: number): void {
    this.#measure();
    this.reserve(0, files);
  }

  #fits(bytes: number, files: number): boolean {
    return this.#bytes + bytes <= this.#maxBytes && this.#files + files <= this.#maxFiles;
  }

  #measure(): void {
    let bytes = 0;
    let files = 0;
    const folders = [this.#root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of entriesOf(folder, folder === this.#root)) {
        files += 1;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else bytes += sizeOf(path, maxAgeOf(entry.name, folder === this.#root));
      }
    }
    this.#bytes = bytes;
    this.#files = files;
    this.#sinceMeasured = 0;
  }
}

function entriesOf(folder: string, isRoot: boolean): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (!isRoot && hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

function sizeOf(path: string, maxAgeMs: number): number {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (!file) return 0;
  if (Date.now() - file.mtimeMs < maxAgeMs) return file.size;
  rmSync(path, { force: true });
  return 0;
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** Returns after how long without a change a file is left over, in milliseconds. */
export function maxAgeOf(name: string, isBesideHome: boolean): number {
  if (name.startsWith(UNFINISHED_PREFIX)) return MAX_WRITE_MS;
  return isBesideHome && name.startsWith(STAGED_PREFIX) ? MAX_UPLOAD_MS : Number.POSITIVE_INFINITY;
}
