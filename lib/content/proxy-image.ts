/** Fetches an image of the web for a reader whose address its server must not learn. */

import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import type { FairQueue } from "@platform/kit/fair-queue";
import { fetchPublic } from "@platform/kit/outbound/fetch-public";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import { readBytes } from "@platform/kit/outbound/vendor-fetch";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { shrinkImage, THUMBNAIL_CACHE } from "@platform/media/shrink-image";
import { IMAGE_TYPES, sniffType } from "@platform/media/sniff-type";
import type { Parts, ProxiedImage } from "../parts.ts";
import { allowsLoopback } from "../platform/config.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const DEADLINE_MS = 15_000;
const MAX_KEPT_BYTES = 256 * 1024;

const HEADERS = {
  "x-content-type-options": "nosniff",
  // Opened by itself, the image has an opaque origin, and executes and loads nothing.
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
};

/** One cache per account: timing reveals nothing about other accounts. */
export const createProxyCache = () =>
  createTtlCache<ProxiedImage | AppError>({
    ...THUMBNAIL_CACHE,
    shouldKeep: (image) => !isAppError(image) && image.bytes.byteLength <= MAX_KEPT_BYTES,
  });

/**
 * Returns the image, or a WebP of at most `width` pixels where it can be decoded. Small ones are kept for an hour.
 * Errors: 400 for a URL that is not allowed; 502; 504. @throws QueueRefusal
 */
export async function proxyImage(
  { proxiedImages, queues }: Parts<"proxiedImages" | "queues">,
  accountId: string,
  address: string,
  width: number | undefined,
  signal: AbortSignal,
): Promise<Response | AppError> {
  const url = new URL(address);
  const fault = faultOfUrl(url, allowsLoopback("media"));
  if (fault !== null) return invalidField("url", `url ${fault}`);
  const image =
    width === undefined
      ? await queues.proxiedImages.run(accountId, signal, () => fetchImage(url, signal))
      : await proxiedImages.get(`${accountId} ${width} ${url.href}`, () =>
          queues.proxiedImages.run(accountId, undefined, async () =>
            shrink(queues.thumbnails, accountId, await fetchImage(url), width),
          ),
        );
  if (isAppError(image)) return image;
  return new Response(image.bytes, { headers: { ...HEADERS, "content-type": image.type } });
}

async function shrink(
  queue: FairQueue,
  accountId: string,
  image: ProxiedImage | AppError,
  width: number,
): Promise<ProxiedImage | AppError> {
  if (isAppError(image)) return image;
  const small = await queue.run(accountId, undefined, () => shrinkImage(image.bytes, width));
  return small ? { bytes: small, type: "image/webp" } : image;
}

/** Errors: 502; 504. */
async function fetchImage(url: URL, signal?: AbortSignal): Promise<ProxiedImage | AppError> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const either = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const response = await fetchPublic(url, allowsLoopback("media"), either);
    const bytes = response && (await readBytes(response.body, MAX_BYTES));
    if (!bytes) return appError("upstream_error", "The image could not be fetched");
    const type = IMAGE_TYPES.find((one) => one === sniffType(bytes));
    if (type === undefined) return appError("upstream_error", "The URL does not lead to an image");
    return { bytes, type };
  } catch {
    return deadline.aborted
      ? appError("upstream_timeout", "The image could not be fetched in time")
      : appError("upstream_error", "The image could not be fetched");
  }
}
