import { constants as flags } from "node:fs";
import {
  chmod,
  type FileHandle,
  open,
  readdir,
  readlink,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { type Pack, pack } from "tar-stream";
import { ArchiveDigest, type BackupHeader, CHECKSUM, HEADER, mayBeLink } from "./archive-format.ts";
import type { LeaveOut } from "./left-out.ts";

const READ_BYTES = 1024 * 1024;

/** Decides what to omit from a folder, by a name below the folder, with slashes. */
export type Skips = (name: string) => "all" | "content" | "nothing";

/**
 * Writes an archive to `file`, with mode 0600. The file has its name only when it is complete and on
 * disk; until then it is `<file>.part`, which is removed on errors.
 *
 * @param fill adds the entries between the header and the checksum
 * @returns the size of the file in bytes
 */
export async function writeArchive(
  file: string,
  fill: (archive: Archive) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, "wx", 0o600);
  try {
    const tar = pack();
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    const written = pipeline(tar, gzip, handle.createWriteStream({ flush: true }), { signal });
    const archive = new Archive(tar);
    const filled = fill(archive).then(
      () => archive.end(),
      (error: unknown) => void tar.destroy(error instanceof Error ? error : undefined),
    );
    // Any failure ends the tar stream.
    await Promise.all([written, filled]);
    await rename(part, file);
    await sync(dirname(file));
    return (await stat(file)).size;
  } finally {
    await handle.close().catch(() => {});
    await rm(part, { force: true });
  }
}

export class Archive {
  readonly #tar: Pack;
  readonly #digest = new ArchiveDigest();

  constructor(tar: Pack) {
    this.#tar = tar;
  }

  addHeader(header: BackupHeader): Promise<void> {
    return this.addContent(HEADER, Buffer.from(JSON.stringify(header)));
  }

  addContent(name: string, content: Buffer): Promise<void> {
    return this.#add({ name, mode: 0o600, size: content.length, mtime: new Date() }, [content]);
  }

  /**
   * Adds the content of `path` as `name`. Files that vanish during this were deleted and are left out.
   * No command of a sandbox may reach the folder: its entries are opened by their paths.
   *
   * @param leaveOut is called for files that cannot be opened; without it they are errors
   * @throws Error when there is an entry that a backup cannot hold
   */
  async addFolder(
    path: string,
    name: string,
    skips: Skips = () => "nothing",
    leaveOut?: LeaveOut,
  ): Promise<void> {
    const found = await unlessGone(stat(path));
    if (!found) return;
    if (name !== "") this.#addDirectory(name, found.mode, found.mtime);
    for (const entry of (await unlessGone(readdir(path, { withFileTypes: true }))) ?? []) {
      const child = name === "" ? entry.name : `${name}/${entry.name}`;
      const skipped = skips(child);
      if (skipped === "all") continue;
      const from = join(path, entry.name);
      if (entry.isDirectory()) {
        await this.addFolder(from, child, skipped === "content" ? () => "all" : skips, leaveOut);
      } else if (entry.isFile()) {
        await this.addFile(from, child).catch((error: unknown) => {
          // A command can take away the right to read the file at any time.
          if (!leaveOut || !hasCode(error, "EACCES")) throw error;
          leaveOut(child, "it cannot be read (EACCES)");
        });
      } else if (entry.isSymbolicLink() && mayBeLink(child)) {
        this.#addLink(child, await readlink(from));
      } else throw new Error(`${from} is neither a file nor a folder: a backup cannot hold it`);
    }
  }

  /**
   * Adds the file with the size that it has now. A file of PostgreSQL that becomes shorter during this is
   * filled with zeros, which its recovery does not read.
   */
  async addFile(path: string, name: string): Promise<void> {
    const handle = await unlessGone(openAnyway(path));
    if (!handle) return;
    try {
      const { size, mode, mtime } = await handle.stat();
      await this.#add({ name, mode, size, mtime }, contentOf(handle, size));
    } finally {
      await handle.close();
    }
  }

  end(): void {
    const content = Buffer.from(JSON.stringify(this.#digest.end()));
    this.#tar.entry({ name: CHECKSUM, mode: 0o600, mtime: new Date() }, content);
    this.#tar.finalize();
  }

  #addDirectory(name: string, mode: number, mtime: Date): void {
    // A restore has to create its content.
    const facts = { type: "directory", name, mode: (mode & 0o777) | 0o700, size: 0 } as const;
    this.#digest.begin(facts);
    this.#tar.entry({ ...facts, mtime });
  }

  #addLink(name: string, target: string): void {
    const facts = { type: "symlink", name, mode: 0o777 } as const;
    const content = Buffer.from(target);
    this.#digest.begin({ ...facts, size: content.length });
    this.#digest.content(content);
    this.#tar.entry({ ...facts, linkname: target });
  }

  async #add(
    given: { name: string; mode: number; size: number; mtime: Date },
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  ): Promise<void> {
    // `tar-stream` takes no mode for its default.
    const facts = { ...given, type: "file", mode: (given.mode & 0o777) | 0o400 } as const;
    this.#digest.begin(facts);
    await pipeline(Readable.from(this.#digested(chunks)), this.#tar.entry(facts));
  }

  async *#digested(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#digest.content(chunk);
      yield chunk;
    }
  }
}

/** Opens a file even if a command in its sandbox has removed everyone's right to read it. */
async function openAnyway(path: string): Promise<FileHandle> {
  const openFile = () => open(path, flags.O_RDONLY | flags.O_NOFOLLOW);
  try {
    return await openFile();
  } catch (error) {
    if (!hasCode(error, "EACCES")) throw error;
    const { mode } = await stat(path);
    await chmod(path, mode | 0o400);
    try {
      return await openFile();
    } finally {
      await chmod(path, mode);
    }
  }
}

async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const buffer = Buffer.alloc(Math.min(READ_BYTES, size - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    const chunk = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
    at += chunk.length;
    yield chunk;
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync();
  await handle.close();
}

async function unlessGone<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
