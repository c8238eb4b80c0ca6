/** Temporary folders for the files of generations. */
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { config } from "../platform/config.ts";

/** Far longer than any generation may take. */
const STALE_AFTER_MS = 60 * 60 * 1000;

/** Runs the work with a new folder, and removes the folder afterwards. */
export async function withWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const root = workRoot();
  await mkdir(root, { recursive: true });
  await sweep(root);
  const folder = await mkdtemp(join(root, "run-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** On the same file system as the media, where a rename stores a file; Vercel has only `/tmp`. */
const workRoot = (): string =>
  config().VERCEL
    ? join(tmpdir(), "content-work")
    : join(resolve(config().DATA_DIR), "content-work");

/**
 * Removes the folders of processes that died. It goes by age, because another server may be working in the same root.
 */
async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name);
    const found = await stat(path).catch(() => null);
    if (!found || Date.now() - found.mtimeMs < STALE_AFTER_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}
