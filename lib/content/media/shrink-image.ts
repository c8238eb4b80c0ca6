/** Small WebP versions of images, so that lists of images load quickly. */
import { FairQueue } from "../../platform/fair-queue.ts";
import { processWide } from "../../platform/process-wide.ts";

/** Bounds the memory that decoding needs: 8K. */
const MAX_PIXELS = 35_000_000;

/** How long a small version is kept, and how many: one has about 10 to 60 kB. */
export const THUMBNAIL_CACHE = { ttlMs: 60 * 60 * 1000, maxEntries: 300 } as const;

/** Bounds how many images are decoded at a time. */
export const thumbnailQueue = (): FairQueue =>
  processWide(
    "thumbnail queue",
    () =>
      new FairQueue({ name: "thumbnails", slots: 2, waitersPerAccount: 100, maxWaitMs: 10_000 }),
  );

/**
 * Resolves to the image as WebP of at most this width, upright and not enlarged; null for what cannot be
 * decoded. To be called within `thumbnailQueue`.
 */
export async function shrinkImage(
  bytes: Uint8Array,
  width: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
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
