/** Media in a folder of this machine, one folder an account, served by `/api/media`. */
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type MediaKey, parseMediaKey } from "../media-name.ts";
import type { MediaStorage } from "../port.ts";

const PATH = "/api/media/";

/** @param given.origin under which this service is called */
export function createDiskStorage(given: {
  readonly folder: string;
  readonly origin: string;
}): MediaStorage {
  const pathOf = ({ accountId, name }: MediaKey) => join(given.folder, accountId, name);
  async function find(key: MediaKey) {
    const path = pathOf(key);
    const found = await ifThere(stat(path));
    return found?.isFile() ? { path, bytes: found.size } : null;
  }
  return {
    name: "disk",
    async store(key, file) {
      await mkdir(join(given.folder, key.accountId), { recursive: true });
      // On disk before it has its name: after a power cut a name never leads to half a file.
      await sync(file.path);
      await rename(file.path, pathOf(key));
      return `${given.origin}${PATH}${key.accountId}/${key.name}`;
    },
    keyOf(url) {
      if (url.origin !== given.origin || !url.pathname.startsWith(PATH)) return null;
      const [accountId = "", name = "", ...rest] = url.pathname.slice(PATH.length).split("/");
      return (rest.length === 0 && parseMediaKey(accountId, name)) || "malformed";
    },
    async copyTo(key, path) {
      const copied = copyFile(pathOf(key), path, constants.COPYFILE_EXCL);
      return (await ifThere(copied.then(() => true))) ?? false;
    },
    async sizeOf(key) {
      return (await find(key))?.bytes ?? null;
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
    find,
    async *filesOlderThan(ageMs) {
      const before = Date.now() - ageMs;
      for (const accountId of (await ifThere(readdir(given.folder))) ?? []) {
        const names = await readdir(join(given.folder, accountId)).catch((): string[] => []);
        for (const name of names) {
          const key = parseMediaKey(accountId, name);
          const found = key && (await ifThere(stat(pathOf(key))));
          if (key && found && found.mtimeMs < before) yield key;
        }
      }
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

async function ifThere<T>(look: Promise<T>): Promise<T | null> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
