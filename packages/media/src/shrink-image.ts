/** Small versions of images: as WebP for lists that load quickly, and as JPEG for models. */
import { readFile } from "node:fs/promises";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { FairQueue } from "@platform/kit/fair-queue";
import { createTtlCache, type TtlCache } from "@platform/kit/ttl-cache";
import { sniffFile } from "./sniff-file.ts";
import { sniffType } from "./sniff-type.ts";

/** Bounds the memory that decoding needs: 8K. */
export const MAX_PIXELS = 35_000_000;
const DEADLINE_SECONDS = 10;

/**
 * Bounds the time that decoding needs: each scan of a progressive JPEG goes over all of its blocks, though
 * it may have a hundred bytes. Encoders write about ten.
 */
const MAX_SCANS = 50;
const START_OF_SCAN = Buffer.from([0xff, 0xda]);

/** How long a small version is kept, and how many: one has about 10 to 60 kB. */
export const THUMBNAIL_CACHE = { ttlMs: 60 * 60 * 1000, maxEntries: 300 } as const;

/**
 * Resolves to the image as WebP of at most this width, upright and not enlarged; null for a file that
 * cannot be decoded. To be called in a slot of `queues.thumbnails`.
 */
export async function shrinkImage(
  bytes: Uint8Array,
  width: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (hasManyScans(bytes)) return null;
  try {
    // Loaded when first needed, and not traced: functions keep their media elsewhere, and go without.
    const { default: sharp } = await import(/* turbopackIgnore: true */ "sharp");
    const image = sharp(bytes, { limitInputPixels: MAX_PIXELS }).autoOrient();
    const small = image.resize({ width, withoutEnlargement: true }).webp({ quality: 78 });
    return new Uint8Array(await small.toBuffer());
  } catch {
    return null;
  }
}

/** The longer side of an image for a model: it reads no finer one. */
const MODEL_SIDE = 1_568;

/**
 * Resolves to the first frame of an image as a JPEG for a model, upright, and light gray where it
 * is transparent, which shows black and white drawings; null for a file that cannot be decoded.
 * Without a decoder it is not changed. Call it in a slot of `queues.thumbnails`.
 */
export async function shrinkForModel(bytes: Uint8Array): Promise<Uint8Array | null> {
  if (hasManyScans(bytes)) return null;
  const loaded = await import(/* turbopackIgnore: true */ "sharp").catch(() => null);
  if (!loaded) return bytes;
  try {
    return await loaded
      .default(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
      .autoOrient()
      .resize({ width: MODEL_SIDE, height: MODEL_SIDE, fit: "inside", withoutEnlargement: true })
      .flatten({ background: "#bbb" })
      .timeout({ seconds: DEADLINE_SECONDS })
      .jpeg({ quality: 80 })
      .toBuffer();
  } catch {
    return null;
  }
}

function hasManyScans(bytes: Uint8Array): boolean {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Other formats may have these two bytes anywhere.
  if (sniffType(data) !== "image/jpeg") return false;
  let at = -1;
  for (let scans = 0; scans <= MAX_SCANS; scans++) {
    at = data.indexOf(START_OF_SCAN, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Null for a file that is not an image. */
export type ThumbnailCache = TtlCache<Uint8Array<ArrayBuffer> | null>;
export const createThumbnailCache = (): ThumbnailCache => createTtlCache(THUMBNAIL_CACHE);

/**
 * Returns the image as WebP of at most this width, upright. Errors: 404 for a file that is not an
 * image. @throws QueueRefusal while too many are waiting
 */
export async function readThumbnail(
  { queues, thumbnails }: { queues: { thumbnails: FairQueue }; thumbnails: ThumbnailCache },
  key: { readonly accountId: string; readonly name: string },
  path: string,
  width: number,
): Promise<Uint8Array<ArrayBuffer> | AppError> {
  const made = await thumbnails.get(`${key.accountId}/${key.name} ${width}`, () =>
    queues.thumbnails.run(key.accountId, undefined, () => shrink(path, width)),
  );
  return made ?? appError("not_found", "Media not found");
}

/** Resolves to null for anything but an image of a raster format, regardless of its name. */
async function shrink(path: string, width: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!(await sniffFile(path))?.startsWith("image/")) return null;
  return shrinkImage(await readFile(path), width);
}
