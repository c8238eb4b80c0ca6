/** Folders of this machine, whose files are sent to the service or come from it. */
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false;

/**
 * Resolves to the paths of the files in a folder, with `/`. Links are not followed, and names that start with a
 * dot are left out: they are of tools, and have secrets.
 */
export async function listFolder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (entry.name.startsWith(".")) return [];
      if (entry.isFile()) return [entry.name];
      if (!entry.isDirectory()) return [];
      const inner = await listFolder(join(folder, entry.name));
      return inner.map((name) => `${entry.name}/${name}`);
    }),
  );
  return found.flat().sort();
}

/**
 * Resolves to whether a path from the service leads to a file in the folder: through no link, and to no name
 * that a tool of this machine could execute or obey, such as `.git/config`.
 */
export async function isHarmless(folder: string, path: string): Promise<boolean> {
  const segments = path.split("/");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  const unsafe = process.platform === "win32" ? /^$|^\.|[\x00-\x1f\\:*?"<>|]|[. ]$/ : /^$|^\.|\x00/;
  if (segments.some((segment) => unsafe.test(segment))) return false;
  for (let depth = 1; depth <= segments.length; depth++) {
    const found = await lstat(join(folder, ...segments.slice(0, depth))).catch(() => null);
    if (!found) return true;
    if (depth < segments.length ? !found.isDirectory() : !found.isFile()) return false;
  }
  return true;
}
