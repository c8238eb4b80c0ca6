/** A folder for the files of one generation, which ends with it. */
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { config } from "../platform/config.ts";
import { processWide } from "../platform/process-wide.ts";

/** Milliseconds; far longer than any generation may take. */
const FORSAKEN_AFTER = 60 * 60 * 1000;

export async function withWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const root = workRoot();
  await mkdir(root, { recursive: true });
  await processWide("content work folder sweep", () => sweep(root));
  const folder = await mkdtemp(join(root, "run-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Beside the media, so that a finished file moves there in one step; on Vercel there is only this. */
const workRoot = (): string =>
  config().VERCEL
    ? join(tmpdir(), "content-work")
    : join(resolve(config().DATA_DIR), "content-work");

/**
 * Of processes that died. Once a process, by age: another server may be working in the same folder.
 */
async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name);
    const found = await stat(path).catch(() => null);
    if (!found || Date.now() - found.mtimeMs < FORSAKEN_AFTER) continue;
    await rm(path, { recursive: true, force: true });
  }
}
