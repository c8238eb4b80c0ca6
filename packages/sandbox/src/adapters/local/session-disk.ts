/**
 * One of a session's folders for programs in WebAssembly, which read and write synchronously. It
 * follows no symbolic links: every name above a file must be a folder itself.
 */
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type DiskUsage, UNFINISHED_PREFIX } from "./disk-usage.ts";

/** The names from the folder to a file; none for the folder itself. */
export type Names = readonly string[];

/** As under a umask of 022. */
const MODE = 0o755;

/** Every method throws an error with the `code` of the system call, or an `ENOSPC` error. */
export class SessionDisk {
  readonly #root: string;
  readonly #usage: DiskUsage;

  constructor(root: string, usage: DiskUsage) {
    this.#root = root;
    this.#usage = usage;
  }

  /** Throws for anything other than a file or a folder. */
  stat(names: Names): Stats {
    return statOf(this.#locate(names));
  }

  /** Returns the names of the files and folders in a folder. */
  list(names: Names): string[] {
    const path = this.#locate(names);
    if (!statOf(path).isDirectory()) throw failure("ENOTDIR");
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => entry.name);
  }

  create(names: Names, mode: number): void {
    const path = this.#locate(names);
    this.#usage.reserve(0, 1);
    closeSync(openSync(path, "wx", mode & MODE));
  }

  makeFolder(names: Names, mode: number): void {
    const path = this.#locate(names);
    this.#usage.reserve(0, 1);
    mkdirSync(path, { mode: mode & MODE });
  }

  /** Opens an existing file and returns its descriptor. */
  open(names: Names, access: number): number {
    const path = this.#locate(names);
    if (!statOf(path).isFile()) throw failure("EISDIR");
    if (access !== constants.O_RDONLY) detach(path);
    return openSync(path, access | constants.O_NOFOLLOW);
  }

  statOpen(fd: number): Stats {
    return fstatSync(fd);
  }

  read(fd: number, bytes: NodeJS.ArrayBufferView, position: number): number {
    return readSync(fd, bytes, 0, bytes.byteLength, position);
  }

  write(fd: number, bytes: NodeJS.ArrayBufferView, position: number): number {
    this.#reserveGrowth(fd, position + bytes.byteLength);
    return writeSync(fd, bytes, 0, bytes.byteLength, position);
  }

  truncate(names: Names, size: number): void {
    const fd = this.open(names, constants.O_WRONLY);
    try {
      this.resize(fd, size);
    } finally {
      closeSync(fd);
    }
  }

  resize(fd: number, size: number): void {
    this.#reserveGrowth(fd, size);
    ftruncateSync(fd, size);
  }

  setMode(names: Names, mode: number): void {
    const path = this.#locate(names);
    const { mode: current } = statOf(path);
    if ((current & 0o777) === (mode & MODE)) return;
    detach(path);
    chmodSync(path, mode & MODE);
  }

  setTimes(names: Names, accessed: Date | undefined, modified: Date | undefined): void {
    const path = this.#locate(names);
    const { atime, mtime } = statOf(path);
    detach(path);
    lutimesSync(path, accessed ?? atime, modified ?? mtime);
  }

  rename(from: Names, to: Names): void {
    renameSync(this.#locate(from), this.#locate(to));
  }

  removeFile(names: Names): void {
    unlinkSync(this.#locate(names));
  }

  removeFolder(names: Names): void {
    rmdirSync(this.#locate(names));
  }

  #reserveGrowth(fd: number, size: number): void {
    const growth = size - fstatSync(fd).size;
    if (growth > 0) this.#usage.reserve(growth, 0);
  }

  /** Returns the real path. Only its last name may be missing or a link. */
  #locate(names: Names): string {
    let path = this.#root;
    for (const [index, name] of names.entries()) {
      if (name === "" || name === "." || name === ".." || /[/\0]/.test(name))
        throw failure("EINVAL");
      if (index > 0 && !lstatSync(path).isDirectory()) throw failure("ENOTDIR");
      path = join(path, name);
    }
    return path;
  }
}

/** All folders of a session, by the path at which each is seen. Its errors name that path. */
export class SessionDisks {
  readonly byPath: ReadonlyMap<string, SessionDisk>;

  constructor(byPath: ReadonlyMap<string, SessionDisk>) {
    this.byPath = byPath;
  }

  /** @param path absolute and normalized */
  exists(path: string): boolean {
    try {
      this.#within(path, (disk, names) => disk.stat(names));
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Throws when the file is larger. */
  readFile(path: string, maxBytes: number): Uint8Array {
    return this.#within(path, (disk, names) => {
      if (disk.stat(names).size > maxBytes) throw failure("EFBIG");
      const fd = disk.open(names, constants.O_RDONLY);
      try {
        return readFileSync(fd);
      } finally {
        closeSync(fd);
      }
    });
  }

  /** Replaces a file at once, or leaves it as it is. */
  replaceFile(path: string, bytes: Uint8Array): void {
    this.#within(path, (disk, names) => {
      const fresh = [...names.slice(0, -1), `${UNFINISHED_PREFIX}${randomUUID()}`];
      disk.create(fresh, 0o644);
      try {
        const fd = disk.open(fresh, constants.O_WRONLY);
        try {
          for (let at = 0; at < bytes.byteLength; ) at += disk.write(fd, bytes.subarray(at), at);
        } finally {
          closeSync(fd);
        }
        disk.rename(fresh, names);
      } catch (error) {
        disk.removeFile(fresh);
        throw error;
      }
    });
  }

  #within<T>(path: string, work: (disk: SessionDisk, names: Names) => T): T {
    for (const [root, disk] of this.byPath) {
      if (!path.startsWith(`${root}/`)) continue;
      try {
        return work(disk, path.slice(root.length + 1).split("/"));
      } catch (error) {
        throw failure(codeOf(error), path);
      }
    }
    throw failure("EACCES", path);
  }
}

/** Returns the code of a failed system call. The quota's error has its code in the message alone. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "EIO";
  if ("code" in error && typeof error.code === "string") return error.code;
  return /^E[A-Z]+/.exec(error.message)?.[0] ?? "EIO";
}

/**
 * Copies a file with several hard links before it is changed. The other links keep their content: a
 * backup links the files of all sandboxes.
 * @param path a real path without symbolic links
 */
export function detach(path: string): void {
  const found = lstatSync(path);
  if (!found.isFile() || found.nlink === 1) return;
  const copy = join(dirname(path), `${UNFINISHED_PREFIX}${randomUUID()}`);
  copyFileSync(path, copy, constants.COPYFILE_EXCL);
  renameSync(copy, path);
}

function statOf(path: string): Stats {
  const found = lstatSync(path);
  if (!found.isFile() && !found.isDirectory()) throw failure("EACCES");
  return found;
}

const failure = (code: string, path = ""): Error =>
  Object.assign(new Error(`${code}: ${path}`), { code });
