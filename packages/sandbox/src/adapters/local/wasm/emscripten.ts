/**
 * Programs that Emscripten compiled to WebAssembly. They run on the jail's only thread and block it, while
 * the server enforces the deadline from outside.
 */

const PAGE_BYTES = 64 * 1024;
const EROFS = 69;

/** The functions that a program imports, by module and name. */
export type Imports = Record<string, Record<string, unknown>>;

/** The part of Emscripten's `FS` that is used here. */
export interface EmscriptenFs {
  readonly ErrnoError: new (errno: number) => Error;
  readonly root: FsNode;
  createNode(parent: FsNode | null, name: string, mode: number, dev?: number): FsNode;
  lookupNode(parent: FsNode, name: string): FsNode;
  hashRemoveNode(node: FsNode): void;
  isDir(mode: number): boolean;
  mount(type: { mount(): FsNode }, options: object, path: string): void;
  mkdir(path: string, mode?: number): void;
  mkdirTree(path: string): void;
  unlink(path: string): void;
  chdir(path: string): void;
  rmdir(path: string): void;
  writeFile(
    path: string,
    content: Uint8Array | string,
    options?: { canOwn?: boolean; mode?: number },
  ): void;
  init(input: () => null, output: () => void, error: () => void): void;
  makedev(major: number, minor: number): number;
  registerDevice(dev: number, ops: object): void;
  mkdev(path: string, mode: number, dev: number): void;
  open(path: string, flags: number): FsStream;
  close(stream: FsStream): void;
  readonly streams: (FsStream | null)[];
}

export interface FsNode {
  name: string;
  mode: number;
  readonly parent: FsNode;
  node_ops: Record<string, unknown>;
  stream_ops: Record<string, unknown>;
}

export interface FsStream {
  readonly node: FsNode;
  readonly flags: number;
  position: number;
  seekable: boolean;
  /** Shared with the duplicates of the stream. */
  readonly shared: { fd?: number | undefined; uses?: number };
}

/** Refuses more memory at the limit, which the program sees as a failed allocation. */
export function limitMemory(memory: WebAssembly.Memory, maxBytes: number): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > maxBytes) {
      throw new RangeError("The program's memory is limited");
    }
    return grow(pages);
  };
}

/** Refuses changes of the files in memory: they are the program's own, and no quota counts them. */
export function makeReadOnly(fs: EmscriptenFs, file: string): void {
  const refuse = () => {
    throw new fs.ErrnoError(EROFS);
  };
  const folder = fs.root.node_ops;
  for (const name of ["mknod", "rename", "unlink", "rmdir", "symlink", "setattr"]) {
    folder[name] = refuse;
  }
  const stream = fs.open(file, 0);
  stream.node.node_ops.setattr = refuse;
  stream.node.stream_ops.write = refuse;
  fs.close(stream);
}
