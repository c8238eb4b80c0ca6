/** Small versions of stored images. */
import { readFile } from "node:fs/promises";
import { type AppError, appError } from "../contract/app-error.ts";
import { processWide } from "../platform/process-wide.ts";
import { createTtlCache } from "../platform/ttl-cache.ts";
import { shrinkImage, THUMBNAIL_CACHE, thumbnailQueue } from "./media/shrink-image.ts";
import { sniffFile } from "./media/sniff-file.ts";
import type { MediaKey } from "./storage/media-name.ts";

const cache = () =>
  processWide("thumbnails", () =>
    createTtlCache<Uint8Array<ArrayBuffer> | null>({ ...THUMBNAIL_CACHE, shouldKeep: () => true }),
  );

/**
 * Returns the image as WebP of at most this width, upright.
 * Errors: 404 for a file that is no image. @throws QueueRefusal while too many are waiting
 */
export async function readThumbnail(
  key: MediaKey,
  path: string,
  width: number,
): Promise<Uint8Array<ArrayBuffer> | AppError> {
  const made = await cache().get(`${key.accountId}/${key.name} ${width}`, () =>
    thumbnailQueue().run(key.accountId, undefined, () => shrink(path, width)),
  );
  return made ?? appError("not_found", "Media not found");
}

/** Resolves to null for anything but an image of a raster format, regardless of its name. */
async function shrink(path: string, width: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!(await sniffFile(path))?.startsWith("image/")) return null;
  return shrinkImage(await readFile(path), width);
}
