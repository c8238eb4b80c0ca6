import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Parts } from "../parts.ts";
import type { MediaKey } from "./storage/media-name.ts";
import type { MediaStorage } from "./storage/port.ts";

/** Opens a stored file, wherever the storage is; null when it does not have the file. */
export async function openMedia(
  { mediaStorage }: Parts<"mediaStorage">,
  key: MediaKey,
): Promise<AsyncIterable<Uint8Array> | null> {
  const found = await mediaStorage.find(key);
  if (found) return createReadStream(found.path);
  return (await mediaStorage.sizeOf(key)) === null ? null : copyOf(mediaStorage, key);
}

/** Reads a file that is stored elsewhere by way of a temporary copy, which keeps it out of memory. */
async function* copyOf(media: MediaStorage, key: MediaKey): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "agent-platform-media-"));
  try {
    const path = join(folder, key.name);
    if (await media.copyTo(key, path)) yield* createReadStream(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
