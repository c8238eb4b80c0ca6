/** Shows the folders of a session to programs in WebAssembly. */
import { closeSync } from "node:fs";
import { codeOf, type Names, type SessionDisk } from "../session-disk.ts";
import type { EmscriptenFs, FsNode, FsStream } from "./emscripten.ts";

interface Attributes {
  readonly mode?: number;
  readonly size?: number;
  readonly atime?: number | null;
  readonly mtime?: number | null;
}

/** Emscripten's numbers, which are WASI's. */
const ERRNO: ReadonlyMap<string, number> = new Map([
  ["EACCES", 2],
  ["EEXIST", 20],
  ["EFBIG", 22],
  ["EINVAL", 28],
  ["EISDIR", 31],
  ["EMFILE", 33],
  ["ENAMETOOLONG", 37],
  ["ENFILE", 41],
  ["ENOENT", 44],
  ["ENOSPC", 51],
  ["ENOTDIR", 54],
  ["ENOTEMPTY", 55],
  ["EPERM", 63],
  ["ERR_ACCESS_DENIED", 2],
]);
const EIO = 29;
const EPERM = 63;

const DIRECTORY = 0o040_000;
const ACCESS_MODE = 3;
const SEEK_CUR = 1;
const SEEK_END = 2;

/**
 * Shows a folder of the session at a path, which must be an empty folder.
 * @returns a function that closes the files that the program has left open
 */
export function mountDisk(fs: EmscriptenFs, disk: SessionDisk, path: string): () => void {
  const open = new Set<number>();

  const namesOf = (node: FsNode, ...further: string[]): Names => {
    const names = further;
    for (let inner = node; inner.parent !== inner; inner = inner.parent) names.unshift(inner.name);
    return names;
  };
  const nodeOf = (parent: FsNode | null, name: string, mode: number): FsNode =>
    Object.assign(fs.createNode(parent, name, mode, 0), { node_ops, stream_ops });
  const attributesOf = (found: ReturnType<SessionDisk["stat"]>) => ({
    dev: 1,
    ino: found.ino,
    mode: found.mode,
    nlink: 1,
    uid: 0,
    gid: 0,
    rdev: 0,
    size: found.size,
    atime: found.atime,
    mtime: found.mtime,
    ctime: found.ctime,
    blksize: 4096,
    blocks: Math.ceil(found.size / 512),
  });

  /** Translates the errors of the disk. */
  const guarded =
    <A extends unknown[], R>(operation: (...args: A) => R) =>
    (...args: A): R => {
      try {
        return operation(...args);
      } catch (error) {
        if (error instanceof fs.ErrnoError) throw error;
        throw new fs.ErrnoError(ERRNO.get(codeOf(error)) ?? EIO);
      }
    };
  const fdOf = (stream: FsStream): number => {
    if (stream.shared.fd === undefined) throw new fs.ErrnoError(EIO);
    return stream.shared.fd;
  };

  const node_ops = {
    getattr: guarded((node: FsNode) => attributesOf(disk.stat(namesOf(node)))),
    setattr: guarded((node: FsNode, { mode, size, atime, mtime }: Attributes) => {
      const names = namesOf(node);
      if (mode !== undefined) {
        disk.setMode(names, mode);
        node.mode = mode;
      }
      if (size !== undefined) disk.truncate(names, size);
      if (atime !== undefined || mtime !== undefined) {
        disk.setTimes(names, dateOf(atime), dateOf(mtime));
      }
    }),
    lookup: guarded((parent: FsNode, name: string) =>
      nodeOf(parent, name, disk.stat(namesOf(parent, name)).mode),
    ),
    mknod: guarded((parent: FsNode, name: string, mode: number) => {
      if (fs.isDir(mode)) disk.makeFolder(namesOf(parent, name), mode);
      else disk.create(namesOf(parent, name), mode);
      return nodeOf(parent, name, mode);
    }),
    rename: guarded((node: FsNode, folder: FsNode, name: string) => {
      disk.rename(namesOf(node), namesOf(folder, name));
      const replaced = cached(folder, name);
      if (replaced) fs.hashRemoveNode(replaced);
      node.name = name;
    }),
    unlink: guarded((parent: FsNode, name: string) => disk.removeFile(namesOf(parent, name))),
    rmdir: guarded((parent: FsNode, name: string) => disk.removeFolder(namesOf(parent, name))),
    readdir: guarded((node: FsNode) => [".", "..", ...disk.list(namesOf(node))]),
    symlink: () => {
      throw new fs.ErrnoError(EPERM);
    },
  };
  const cached = (folder: FsNode, name: string): FsNode | undefined => {
    try {
      return fs.lookupNode(folder, name);
    } catch {
      return undefined;
    }
  };

  const attributesOfOpen = (stream: FsStream) =>
    attributesOf(
      stream.shared.fd === undefined
        ? disk.stat(namesOf(stream.node))
        : disk.statOpen(stream.shared.fd),
    );
  const stream_ops = {
    open: guarded((stream: FsStream) => {
      if (fs.isDir(stream.node.mode)) return;
      stream.shared.fd = disk.open(namesOf(stream.node), stream.flags & ACCESS_MODE);
      stream.shared.uses = 1;
      open.add(stream.shared.fd);
    }),
    dup: ({ shared }: FsStream) => {
      if (shared.uses !== undefined) shared.uses += 1;
    },
    close: guarded(({ shared }: FsStream) => {
      if (shared.fd === undefined || shared.uses === undefined) return;
      shared.uses -= 1;
      if (shared.uses > 0) return;
      open.delete(shared.fd);
      closeSync(shared.fd);
      shared.fd = undefined;
    }),
    getattr: guarded(attributesOfOpen),
    setattr: guarded((stream: FsStream, attributes: Attributes) => {
      if (attributes.size === undefined) return node_ops.setattr(stream.node, attributes);
      disk.resize(fdOf(stream), attributes.size);
    }),
    read: guarded(
      (stream: FsStream, heap: Int8Array, offset: number, length: number, position: number) =>
        disk.read(fdOf(stream), heap.subarray(offset, offset + length), position),
    ),
    write: guarded(
      (stream: FsStream, heap: Int8Array, offset: number, length: number, position: number) =>
        disk.write(fdOf(stream), heap.subarray(offset, offset + length), position),
    ),
    llseek: guarded((stream: FsStream, offset: number, whence: number) => {
      const base =
        whence === SEEK_CUR
          ? stream.position
          : whence === SEEK_END
            ? attributesOfOpen(stream).size
            : 0;
      if (base + offset < 0) throw Object.assign(new Error("EINVAL"), { code: "EINVAL" });
      return base + offset;
    }),
  };

  fs.mount({ mount: () => nodeOf(null, "/", DIRECTORY | 0o755) }, {}, path);
  return () => {
    for (const fd of open) closeSync(fd);
    open.clear();
  };
}

const dateOf = (ms: number | null | undefined): Date | undefined =>
  ms === null || ms === undefined ? undefined : new Date(ms);
