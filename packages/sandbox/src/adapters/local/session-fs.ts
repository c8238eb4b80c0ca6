/**
 * The file tree that a command sees: the session's home and /tmp on disk under one quota, over a
 * small read-only system part in memory.
 */
import {
  type CpOptions,
  type FileContent,
  InMemoryFs,
  type MkdirOptions,
  MountableFs,
} from "just-bash";
import { type DiskUsage, QUOTA_REACHED } from "./disk-usage.ts";
import type { JailReply } from "./protocol.ts";
import { type Encoding, QuotaFs } from "./quota-fs.ts";

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
   * Finds an entry whose name differs only in its Unicode normalization. Keeps the slash at the end of a
   * path without a folder: the shell would make a file there, and `cp song.wav workspace/` would lose it.
   */
  override resolvePath(base: string, path: string): string {
    const resolved = super.resolvePath(base, path);
    for (const [root, fs] of this.#mounted) {
      if (!resolved.startsWith(`${root}/`)) continue;
      const inner = fs.spellingOf(resolved.slice(root.length));
      return path.endsWith("/") && !fs.isFolder(inner) ? `${root}${inner}/` : root + inner;
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

const noFolder = (path: string): Error => new Error(`ENOTDIR: not a directory, '${path}'`);

function readOnly(path: string): Error {
  return new Error(`EROFS: read-only file system, '${path}'`);
}

/** Returns the code of an operation's error by its message, which is all that the shell passes on. */
export function errorCodeOf(message: string): (JailReply & { op: "error" })["code"] {
  if (message.startsWith("ENOENT") || message.startsWith("ENOTDIR")) return "not_found";
  if (message.startsWith("ESTALE")) return "changed";
  if (message === QUOTA_REACHED) return "no_space";
  if (message.startsWith("ENOSPC")) return "disk_full";
  return message.startsWith("EFBIG") ? "too_large" : "refused";
}
