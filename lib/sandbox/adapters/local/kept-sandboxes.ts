import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeptSandboxes } from "../../port.ts";
import { measureFolder } from "./disk-usage.ts";

const OWNER = ".installation";
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The folders of `rootDir`, for whoever cleans up there. */
export function keptSandboxes(rootDir: string): KeptSandboxes {
  return {
    async belongsTo(installationId) {
      const path = join(rootDir, OWNER);
      // Of two that ask first, one writes; both read what is there then.
      await writeFile(path, installationId, { flag: "wx" }).catch((error: unknown) => {
        if (!isAlreadyThere(error)) throw error;
      });
      return (await readFile(path, "utf8")) === installationId;
    },
    async namesOlderThan(ageMs) {
      const before = Date.now() - ageMs;
      const names: string[] = [];
      for (const name of await readdir(rootDir)) {
        if (!SESSION_ID.test(name)) continue;
        // One that is deleted meanwhile is not there any more.
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

const isAlreadyThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";
