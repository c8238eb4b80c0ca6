import { randomUUID } from "node:crypto";
import { access, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The prefix of folders that are being created or deleted. */
export const TEMPORARY = ".gone-";
const MAX_CREATE_ATTEMPTS = 10;

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
