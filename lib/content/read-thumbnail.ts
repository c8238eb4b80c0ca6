/** Small WebP versions of stored images, so that lists of images load quickly. */
import { readFile } from "node:fs/promises";
import { type AppError, appError } from "../contract/app-error.ts";
import { FairQueue } from "../platform/fair-queue.ts";
import { processWide } from "../platform/process-wide.ts";
import { createTtlCache } from "../platform/ttl-cache.ts";
import { sniffFile } from "./media/sniff-file.ts";
import type { MediaKey } from "./storage/media-name.ts";

/** Bounds the memory that decoding needs: 8K. */
const MAX_PIXELS = 35_000_000;
const CACHE_MS = 60 * 60 * 1000;
/** A thumbnail has about 10 to 60 kB. */
const MAX_CACHED = 300;

const cache = () =>
  processWide("thumbnails", () =>
    createTtlCache<Uint8Array<ArrayBuffer> | null>({
      ttlMs: CACHE_MS,
      maxEntries: MAX_CACHED,
      shouldKeep: () => true,
    }),
  );

const queue = () =>
  processWide(
    "thumbnail queue",
    () =>
      new FairQueue({ name: "thumbnails", slots: 2, waitersPerAccount: 100, maxWaitMs: 10_000 }),
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
    queue().run(key.accountId, undefined, () => shrink(path, width)),
  );
  return made ?? appError("not_found", "Media not found");
}

/** Resolves to null for what is not an image of a raster format, whatever its name says. */
async function shrink(path: string, width: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!(await sniffFile(path))?.startsWith("image/")) return null;
  // Loaded when first needed, and not traced: functions keep their media elsewhere.
  const { default: sharp } = await import(/* turbopackIgnore: true */ "sharp");
  const image = sharp(await readFile(path), { limitInputPixels: MAX_PIXELS });
  const small = image
    .autoOrient()
    .resize({ width, withoutEnlargement: true })
    .webp({ quality: 78 });
  return small.toBuffer().then(
    (bytes) => new Uint8Array(bytes),
    () => null,
  );
}
