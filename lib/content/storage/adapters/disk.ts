/** Stores media on this machine, in one folder per account; `/api/media` serves them. */
import { constants, createReadStream } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { runtimePath } from "@platform/kit/runtime-path";
import { type MediaKey, parseMediaKey } from "../media-name.ts";
import type { ContentKey, ContentStorage, MediaStorage } from "../port.ts";

const PATH = "/api/media/";
const PIECE_BYTES = 256 * 1024;

/** @param options.origin under which clients call this service */
export function createDiskStorage(options: {
  readonly folder: string;
  readonly origin: string;
}): MediaStorage {
  const pathOf = ({ accountId, name }: MediaKey) => join(options.folder, accountId, name);
  async function find(key: MediaKey) {
    const path = pathOf(key);
    const found = await nullIfMissing(stat(path));
    return found?.isFile() ? { path, bytes: found.size } : null;
  }
  return {
    name: "disk",
    async store(key, file) {
      await mkdir(join(options.folder, key.accountId), { recursive: true });
      // Synced before the rename, so after a power failure no name refers to a partial file.
      await sync(file.path);
      await rename(file.path, pathOf(key));
      return `${options.origin}${PATH}${key.accountId}/${key.name}`;
    },
    keyOf(url) {
      if (url.origin !== options.origin || !url.pathname.startsWith(PATH)) return null;
      const [accountId = "", name = "", ...rest] = url.pathname.slice(PATH.length).split("/");
      return (rest.length === 0 && parseMediaKey(accountId, name)) || "malformed";
    },
    async copyTo(key, path) {
      const copied = copyFile(pathOf(key), path, constants.COPYFILE_EXCL);
      return (await nullIfMissing(copied.then(() => true))) ?? false;
    },
    async sizeOf(key) {
      return (await find(key))?.bytes ?? null;
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
    find,
    async *filesOlderThan(ageMs) {
      const cutoff = Date.now() - ageMs;
      for (const accountId of (await nullIfMissing(readdir(options.folder))) ?? []) {
        const names = await readdir(join(options.folder, accountId)).catch((): string[] => []);
        for (const name of names) {
          const key = parseMediaKey(accountId, name);
          const found = key && (await nullIfMissing(stat(pathOf(key))));
          if (key && found && found.mtimeMs < cutoff) yield key;
        }
      }
    },
  };
}

/** Stores the contents of workspaces in one folder per workspace, which no endpoint serves. */
export function createDiskContents(root: string): ContentStorage {
  const folderOf = ({ workspaceId }: ContentKey) => runtimePath(root, workspaceId);
  const pathOf = (key: ContentKey) => runtimePath(folderOf(key), key.contentId);
  return {
    name: "disk",
    async store(key, path) {
      await mkdir(folderOf(key), { recursive: true });
      await sync(path);
      await rename(path, pathOf(key));
    },
    async *read(key) {
      yield* createReadStream(pathOf(key), { highWaterMark: PIECE_BYTES });
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
