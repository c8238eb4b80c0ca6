import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxFolders } from "../../port.ts";
import { measureFolder } from "./disk-usage.ts";

const OWNER = ".installation";
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the sandbox folders below `rootDir`, for the retention job. */
export function sandboxFolders(rootDir: string): SandboxFolders {
  return {
    async belongsTo(installationId) {
      const path = join(rootDir, OWNER);
      // Of two servers that ask at the same time, one writes the file, and both read it.
      await writeFile(path, installationId, { flag: "wx" }).catch((error: unknown) => {
        if (!fileExists(error)) throw error;
      });
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
    async bytesOf(sessionId) {
      if (!SESSION_ID.test(sessionId)) return null;
      return measureFolder(join(rootDir, sessionId)).then(
        ({ bytes }) => bytes,
        () => null,
      );
    },
  };
}

const fileExists = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";
