/** Backups and their archives, for tests that look into them or forge them. */
import { readFile, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { constants, gunzipSync, gzipSync } from "node:zlib";
import { extract, type Headers, pack } from "tar-stream";
import { vi } from "vitest";
import { ArchiveDigest } from "../../../scripts/backup/archive-format.ts";
import { createBackup } from "../../../scripts/backup/create-backup.ts";
import { restoreBackup } from "../../../scripts/backup/restore-backup.ts";

/** The result of `backUp` and `restore` after a success. */
export const DONE = "exit code 0";

/** Runs a script in this process, and returns the message that it would print if it fails. */
async function run(script: () => Promise<number>, dataDir: string): Promise<string> {
  vi.stubEnv("DATA_DIR", dataDir);
  vi.spyOn(console, "log").mockReturnValue();
  try {
    return `exit code ${await script()}`;
  } catch (error) {
    return String(error);
  }
}

export const backUp = (to: string, dataDir: string) => run(() => createBackup([to]), dataDir);
export const restore = (from: string, dataDir: string) => run(() => restoreBackup([from]), dataDir);

export interface Part {
  readonly header: Headers;
  readonly content: Buffer;
}

export async function readEntries(archive: string): Promise<Part[]> {
  const tar = extract();
  tar.end(gunzipSync(await readFile(archive)));
  const found: Part[] = [];
  for await (const entry of tar) {
    found.push({ header: entry.header, content: await buffer(entry) });
  }
  return found;
}

/** Writes an archive with a checksum that is right. */
export async function forge(path: string, content: readonly Part[]): Promise<string> {
  const tar = pack();
  const digest = new ArchiveDigest();
  for (const { header, content: bytes } of content) {
    const { name, mode = 0, type } = header;
    const content = type === "symlink" ? Buffer.from(header.linkname ?? "") : bytes;
    const size = content.length;
    const known = type === "directory" || type === "symlink" ? type : "file";
    digest.begin({ name, mode, size, type: known });
    digest.content(content);
    if (type === "file") tar.entry({ ...header, size }, bytes);
    else tar.entry({ ...header, size: 0 });
  }
  tar.entry({ name: "checksum.json" }, Buffer.from(JSON.stringify(digest.end())));
  tar.finalize();
  await writeFile(path, compress(await buffer(tar)));
  return path;
}

/** As a backup is compressed. */
export const compress = (tar: Buffer): Buffer => gzipSync(tar, { level: constants.Z_BEST_SPEED });
