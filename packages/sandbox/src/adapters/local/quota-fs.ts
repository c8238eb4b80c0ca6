/** A folder of the session on disk, as the shell sees it, under the quota of the session. */
import { lstatSync, readdirSync } from "node:fs";
import { constants, open, rename, rmdir } from "node:fs/promises";
import { join, posix } from "node:path";
import {
  type CpOptions,
  type FileContent,
  type IFileSystem,
  type MkdirOptions,
  ReadWriteFs,
  type RmOptions,
} from "just-bash";
import type { DiskUsage } from "./disk-usage.ts";
import { inputOf, keptBytes, keptText } from "./kept-bytes.ts";
import { detach } from "./session-disk.ts";

export type Encoding = Parameters<IFileSystem["writeFile"]>[2];

/** The largest file that a shell command can read. */
const MAX_COMMAND_FILE_BYTES = 32 * 1024 * 1024;

/** Opens a pipe without waiting for its other end, even if a command has just put it in the place of a file. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export class QuotaFs extends ReadWriteFs {
  readonly #root: string;
  readonly #usage: DiskUsage;

  constructor(root: string, usage: DiskUsage) {
    super({ root, maxFileReadSize: MAX_COMMAND_FILE_BYTES, allowSymlinks: false });
    this.#root = root;
    this.#usage = usage;
  }

  override async writeFile(path: string, text: FileContent, options?: Encoding): Promise<void> {
    const content = bytesOf(text, options);
    this.#requireFolder(path);
    this.#usage.reserve(byteLength(content, options), segments(path));
    await this.#detach(path);
    await super.writeFile(path, content, options);
  }

  override async appendFile(path: string, text: FileContent, options?: Encoding): Promise<void> {
    const content = bytesOf(text, options);
    this.#requireFolder(path);
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

  /** Removes empty folders too, which the inherited method refuses. */
  override async rm(path: string, options?: RmOptions): Promise<void> {
    // Refuses a path through a symbolic link.
    const isEmptied = !options?.recursive && (await super.lstat(path)).isDirectory;
    if (isEmptied) await rmdir(this.#real(path));
    else await super.rm(path, options);
  }

  /** Keeps bytes that are not UTF-8 for the commands that pass on text. */
  override async readFile(path: string, options?: ReadEncoding) {
    const encoding = encodingOf(options);
    if (encoding && encoding !== "utf8" && encoding !== "utf-8")
      return super.readFile(path, options);
    return keptText(await this.readFileBuffer(path));
  }

  override async readFileBytes(path: string) {
    return inputOf(await this.readFileBuffer(path));
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

  /** Returns the path of an existing entry whose names differ only in their Unicode normalization. */
  spellingOf(path: string): string {
    if (path.normalize("NFC") === path.normalize("NFD")) return path;
    let found = "";
    try {
      for (const name of path.split("/").filter(Boolean)) {
        const exact = lstatSync(this.#real(`${found}/${name}`), { throwIfNoEntry: false });
        // The target of a symbolic link must not be read.
        if (exact?.isSymbolicLink()) return path;
        const wanted = name.normalize("NFC");
        const names = exact ? [] : readdirSync(this.#real(found));
        found += `/${names.find((entry) => entry.normalize("NFC") === wanted) ?? name}`;
      }
      return found;
    } catch {
      // A folder of the path is missing, or a file.
      return path;
    }
  }

  isFolder(path: string): boolean {
    try {
      return lstatSync(this.#real(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    } catch {
      // A name above it is a file.
      return false;
    }
  }

  /** Otherwise the inherited writes would create the folder. */
  #requireFolder(path: string): void {
    const folder = posix.dirname(path);
    if (!this.isFolder(folder)) throw new Error(`ENOENT: no such file or directory, '${folder}'`);
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

const notRegular = (path: string): Error => new Error(`EACCES: not a regular file, '${path}'`);

type ReadEncoding = Parameters<IFileSystem["readFile"]>[1];
const encodingOf = (options: Encoding | ReadEncoding) =>
  typeof options === "object" ? options.encoding : options;

/** Returns the bytes of a text that preserves bytes that are not text. */
const bytesOf = (text: FileContent, options: Encoding): FileContent =>
  (typeof text === "string" && encodingOf(options) !== "binary" && keptBytes(text)) || text;

/** Returns the size of the file. The shell passes raw bytes as a text of one character each. */
function byteLength(content: FileContent, options: Encoding): number {
  if (typeof content !== "string") return content.byteLength;
  const encoding = encodingOf(options);
  return Buffer.byteLength(content, encoding === "binary" ? "latin1" : (encoding ?? "utf8"));
}

/** Returns the most entries that a write can create: the file and every folder above it. */
function segments(path: string): number {
  return path.split("/").filter(Boolean).length;
}
