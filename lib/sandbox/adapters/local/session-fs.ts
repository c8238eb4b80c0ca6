/**
 * The file tree that a command sees: the session's home and /tmp on disk under one quota, over a
 * small read-only system part in memory.
 */
import { lstatSync } from "node:fs";
import { constants, open, rename } from "node:fs/promises";
import { join, posix } from "node:path";
import {
  type CpOptions,
  type FileContent,
  type IFileSystem,
  InMemoryFs,
  type MkdirOptions,
  MountableFs,
  ReadWriteFs,
} from "just-bash";
import { type DiskUsage, QUOTA_REACHED } from "./disk-usage.ts";
import type { JailReply } from "./protocol.ts";
import { detach } from "./session-disk.ts";

type Encoding = Parameters<IFileSystem["writeFile"]>[2];

/** The largest file that a shell command can read. */
const MAX_COMMAND_FILE_BYTES = 32 * 1024 * 1024;

/** Opens a pipe without waiting for its other end, even if a command has just put it in the place of a file. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

class QuotaFs extends ReadWriteFs {
  readonly #root: string;
  readonly #usage: DiskUsage;

  constructor(root: string, usage: DiskUsage) {
    super({ root, maxFileReadSize: MAX_COMMAND_FILE_BYTES, allowSymlinks: false });
    this.#root = root;
    this.#usage = usage;
  }

  override async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    this.#usage.reserve(byteLength(content, options), segments(path));
    await this.#detach(path);
    await super.writeFile(path, content, options);
  }

  override async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    this.#usage.reserve(byteLength(content, options), segments(path));
    await this.#detach(path);
    await super.appendFile(path, content, options);
  }

  override async chmod(path: string, mode: number): Promise<void> {
    await this.#detach(path);
    await super.chmod(path, mode);
  }

  override async utimes(path: string, atime: Date, mtime: Date): Promise<void> {
    await this.#detach(path);
    await super.utimes(path, atime, mtime);
  }

  override async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    this.#usage.reserve(0, options?.recursive ? segments(path) : 1);
    await super.mkdir(path, options);
  }

  override async link(existing: string, path: string): Promise<void> {
    this.#usage.reserve(0, 1);
    await super.link(existing, path);
  }

  /**
   * Replaces the inherited copy, which changes modes through file handles; the jail refuses those.
   */
  override async cp(source: string, target: string, options?: CpOptions): Promise<void> {
    const stat = await this.stat(source);
    if (!stat.isDirectory) {
      await this.writeFile(target, await this.readFileBuffer(source));
      await this.chmod(target, stat.mode & 0o777);
      return;
    }
    if (!options?.recursive) throw new Error(`EISDIR: is a directory, cp '${source}'`);
    const names = await this.readdir(source);
    await this.mkdir(target, { recursive: true });
    for (const name of names) {
      await this.cp(posix.join(source, name), posix.join(target, name), options);
    }
  }

  /** Replaces the inherited read, which waits for the other end of a pipe. */
  override async readFileBuffer(path: string): Promise<Uint8Array> {
    const bytes = await this.readPiece(path, 0, MAX_COMMAND_FILE_BYTES + 1);
    if (bytes.byteLength > MAX_COMMAND_FILE_BYTES) {
      throw new Error(`EFBIG: file too large, read '${path}' (max ${MAX_COMMAND_FILE_BYTES})`);
    }
    return bytes;
  }

  /** Reads at most `maxBytes`, from a regular file of any size. */
  async readPiece(
    path: string,
    offset: number,
    maxBytes: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    // Refuses a path through a symbolic link.
    const { isFile, isDirectory } = await super.stat(path);
    if (isDirectory) throw new Error(`EISDIR: illegal operation on a directory, read '${path}'`);
    if (!isFile) throw notRegular(path);
    const file = await open(this.#real(path), READ_AT_ONCE);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw notRegular(path);
      const bytes = new Uint8Array(Math.max(0, Math.min(maxBytes, found.size - offset)));
      const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Moves a file from beside the home to the path, which it replaces at once. */
  async place(staged: string, path: string): Promise<void> {
    this.#usage.admit(segments(path));
    const folder = posix.dirname(path);
    await super.mkdir(folder, { recursive: true });
    // Refuses a path through a symbolic link.
    await super.stat(folder);
    await rename(staged, this.#real(path));
  }

  isFolder(path: string): boolean {
    return lstatSync(this.#real(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  #real(path: string): string {
    return join(this.#root, posix.resolve("/", path));
  }

  /** Replaces the inherited copy before a change, which changes modes through file handles. */
  async #detach(path: string): Promise<void> {
    // Refuses a path through a symbolic link.
    const isFile = await super.stat(path).then(
      (found) => found.isFile,
      () => false,
    );
    if (isFile) detach(this.#real(path));
  }
}

/**
 * /bin, /dev and /proc, which the shell fills synchronously during its set-up, and then read-only.
 */
class SystemFs extends InMemoryFs {
  override async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    if (!path.startsWith("/dev/")) throw readOnly(path);
    if (path === "/dev/null") return;
    await super.writeFile(path, content, options);
  }

  override async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    if (!path.startsWith("/dev/")) throw readOnly(path);
    if (path === "/dev/null") return;
    await super.appendFile(path, content, options);
  }

  override async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    if (options?.recursive && (await this.exists(path))) return;
    throw readOnly(path);
  }
}

for (const name of ["rm", "cp", "mv", "symlink", "link", "chmod", "utimes"] as const) {
  SystemFs.prototype[name] = async (path: string) => {
    throw readOnly(path);
  };
}

/** The shell sets up its system part only on a file system with `mkdirSync` and `writeFileSync`. */
export class SessionFs extends MountableFs {
  readonly #system: SystemFs;
  /** By the path at which each is seen. */
  readonly #mounted: ReadonlyMap<string, QuotaFs>;

  constructor(home: string, dirs: { home: string; tmp: string }, usage: DiskUsage) {
    const system = new SystemFs({}, { maxTotalBytes: 1024 * 1024 });
    super({ base: system });
    this.#system = system;
    this.#mounted = new Map([
      [home, new QuotaFs(dirs.home, usage)],
      ["/tmp", new QuotaFs(dirs.tmp, usage)],
    ]);
    for (const [path, fs] of this.#mounted) this.mount(path, fs);
  }

  /**
   * Keeps the slash at the end of a path at which there is no folder. The shell would make a file there, and
   * `cp song.wav workspace/` would lose it.
   */
  override resolvePath(base: string, path: string): string {
    const resolved = super.resolvePath(base, path);
    if (!path.endsWith("/")) return resolved;
    for (const [root, fs] of this.#mounted) {
      if (!resolved.startsWith(`${root}/`)) continue;
      return fs.isFolder(resolved.slice(root.length)) ? resolved : `${resolved}/`;
    }
    return resolved;
  }

  override async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    if (path.endsWith("/")) throw noFolder(path);
    await super.writeFile(path, content, options);
  }

  override async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    if (path.endsWith("/")) throw noFolder(path);
    await super.appendFile(path, content, options);
  }

  override async cp(source: string, target: string, options?: CpOptions): Promise<void> {
    if (target.endsWith("/") && !(await this.stat(source)).isDirectory) throw noFolder(target);
    await super.cp(source, target, options);
  }

  override async mv(source: string, target: string): Promise<void> {
    if (target.endsWith("/") && !(await this.stat(source)).isDirectory) throw noFolder(target);
    await super.mv(source, target);
  }

  override async symlink(target: string, path: string): Promise<void> {
    if (path.endsWith("/")) throw noFolder(path);
    await super.symlink(target, path);
  }

  override async link(existing: string, path: string): Promise<void> {
    if (path.endsWith("/")) throw noFolder(path);
    await super.link(existing, path);
  }

  /** Reads at most `maxBytes` of a file on disk. */
  readPiece(path: string, offset: number, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { fs, inner } = this.#onDisk(path);
    return fs.readPiece(inner, offset, maxBytes);
  }

  /** Moves a file from beside the home to a path on disk. */
  place(staged: string, path: string): Promise<void> {
    const { fs, inner } = this.#onDisk(path);
    return fs.place(staged, inner);
  }

  #onDisk(path: string): { fs: QuotaFs; inner: string } {
    for (const [root, fs] of this.#mounted) {
      if (path.startsWith(`${root}/`)) return { fs, inner: path.slice(root.length) };
    }
    throw readOnly(path);
  }

  mkdirSync(path: string, options?: MkdirOptions): void {
    this.#system.mkdirSync(path, options);
  }

  writeFileSync(path: string, content: FileContent): void {
    this.#system.writeFileSync(path, content);
  }
}

const notRegular = (path: string): Error => new Error(`EACCES: not a regular file, '${path}'`);

const noFolder = (path: string): Error => new Error(`ENOTDIR: not a directory, '${path}'`);

function readOnly(path: string): Error {
  return new Error(`EROFS: read-only file system, '${path}'`);
}

/** Returns the size of the file. The shell passes raw bytes as a text of one character each. */
function byteLength(content: FileContent, options: Encoding): number {
  if (typeof content !== "string") return content.byteLength;
  const encoding = typeof options === "object" ? options.encoding : options;
  return Buffer.byteLength(content, encoding === "binary" ? "latin1" : (encoding ?? "utf8"));
}

/** Returns the most entries that a write can create: the file and every folder above it. */
function segments(path: string): number {
  return path.split("/").filter(Boolean).length;
}

/** Returns the code of an operation's error by its message, which is all that the shell passes on. */
export function errorCodeOf(message: string): (JailReply & { op: "error" })["code"] {
  if (message.startsWith("ENOENT") || message.startsWith("ENOTDIR")) return "not_found";
  if (message.startsWith("ESTALE")) return "changed";
  if (message === QUOTA_REACHED) return "no_space";
  if (message.startsWith("ENOSPC")) return "disk_full";
  return message.startsWith("EFBIG") ? "too_large" : "refused";
}
