/** The folders of sandboxes on this machine: one for each session, with `home` and `tmp`. */
import { randomUUID } from "node:crypto";
import {
  access,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { runtimePath } from "@platform/kit/runtime-path";
import { SandboxError, type SandboxFolders } from "../../port.ts";
import { hasCode, STAGED_PREFIX } from "./disk-usage.ts";
import { measureFolder } from "./measure-folder.ts";

/** The prefix of folders that are being created or deleted. */
export const TEMPORARY = ".gone-";
const MAX_CREATE_ATTEMPTS = 10;
/** More than a session may have. */
const MAX_MEASURED_FILES = 100_000;
const OWNER = ".installation";
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Deletes a folder in which nothing runs that could put links in the way. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Returns whether a session's folder exists. */
export const isFolder = (folder: string): Promise<boolean> =>
  access(join(folder, "home")).then(
    () => true,
    () => false,
  );

/**
 * Creates a session's folder by a rename, because another request may be deleting it at the same time.
 * @param remove deletes a folder
 */
export async function createFolder(
  folder: string,
  remove: (folder: string) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; !(await isFolder(folder)); attempt++) {
    const fresh = join(dirname(folder), `${TEMPORARY}${randomUUID()}`);
    try {
      await mkdir(join(fresh, "home"), { recursive: true });
      await mkdir(join(fresh, "tmp"));
      return await rename(fresh, folder);
    } catch (error) {
      // Of two simultaneous requests, one finds the folder of the other; and a server that starts
      // mistakes the fresh folder for a leftover.
      await remove(fresh);
      if (attempt >= MAX_CREATE_ATTEMPTS) throw error;
    }
  }
}

/**
 * Returns the size of a session's files in bytes; null if the folder does not exist. A folder that
 * cannot be measured counts as full.
 */
export const bytesOf = (folder: string, diskQuota: number): Promise<number | null> =>
  measureFolder(folder, MAX_MEASURED_FILES).then(
    ({ bytes, files }) => (files < MAX_MEASURED_FILES ? bytes : Math.max(bytes, diskQuota)),
    (error: unknown) => (hasCode(error, "ENOENT") ? null : diskQuota),
  );

/** Returns the sandbox folders below `rootDir`, for the retention job. */
export function sandboxFolders(rootDir: string, diskQuota: number): SandboxFolders {
  return {
    async belongsTo(installationId) {
      const path = join(rootDir, OWNER);
      // Of two servers that ask at the same time, one writes the file, and both read it.
      await writeFile(path, installationId, { flag: "wx" }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
        },
      );
      return (await readFile(path, "utf8")) === installationId;
    },
    async namesOlderThan(ageMs) {
      const before = Date.now() - ageMs;
      const names: string[] = [];
      for (const name of await readdir(rootDir)) {
        if (!SESSION_ID.test(name)) continue;
        // The folder may have been deleted in the meantime.
        const found = await stat(join(rootDir, name)).catch(() => null);
        if (found?.isDirectory() && found.mtimeMs < before) names.push(name);
      }
      return names;
    },
    bytesOf: async (sessionId) =>
      SESSION_ID.test(sessionId) ? bytesOf(join(rootDir, sessionId), diskQuota) : null,
  };
}

/**
 * Writes the content to a file of the session's folder that no command sees, and calls `place` with
 * its name. The file is removed unless `place` has moved it.
 * @param maxBytes more fail with `no_space`
 */
export async function stageUpload<T>(
  folder: string,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  place: (staged: string) => Promise<T>,
): Promise<T> {
  const staged = `${STAGED_PREFIX}${randomUUID()}`;
  const path = join(folder, staged);
  try {
    // Fails where a file or a link of this name exists.
    const file = await open(path, "wx", 0o644).catch(unavailable);
    try {
      let size = 0;
      for await (const piece of content) {
        size += piece.byteLength;
        if (size > maxBytes) throw new SandboxError("no_space", "No space left in the sandbox");
        await file.writeFile(piece).catch(unavailable);
      }
    } finally {
      await file.close();
    }
    return await place(staged);
  } finally {
    await rm(path, { force: true });
  }
}

/** The prefix of marks, which distinguishes an upload from the files of a concurrent command. */
export const KEPT_PREFIX = `${STAGED_PREFIX}kept-`;

/**
 * Marks a staged file for an hour, in the part of the session's folder that no command sees. A file that gets its inode
 * after it was removed has another time of birth.
 */
export async function keepUpload(folder: string, staged: string): Promise<void> {
  const { ino, birthtimeMs } = await stat(join(folder, staged));
  await writeFile(runtimePath(folder, `${KEPT_PREFIX}${ino}-${birthtimeMs}`), "").catch(
    unavailable,
  );
}

function unavailable(error: NodeJS.ErrnoException): never {
  if (error.code === "ENOSPC") throw new SandboxError("disk_full", "No space left on this machine");
  throw new SandboxError("unavailable", `The upload could not be written: ${error.code}`);
}
