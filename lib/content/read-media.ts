/** Serves files of the disk storage with the conditions and ranges of RFC 9110. */
import { createReadStream } from "node:fs";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { streamOf } from "@platform/kit/stream-of";
import { readThumbnail } from "@platform/media/shrink-image";
import type { Parts } from "../parts.ts";
import { mediaTypeOf, parseMediaKey } from "./storage/media-name.ts";

/**
 * A browser executes nothing of a file, whatever its bytes are, and gives it an opaque origin. It can still show or
 * play a file that someone opens: the browser wraps it in its own document, with some inline style.
 */
const POLICY =
  "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";
/** A response without content has them too, because a cache updates the headers that it has stored. */
const SAFETY = {
  "x-content-type-options": "nosniff",
  "content-security-policy": POLICY,
  "cross-origin-resource-policy": "cross-origin",
};

/**
 * @param width of the small version of an image; videos ignore it
 * Errors: 404 `Media not found`; 416; for a small version also 429 and 503.
 */
export async function readMedia(
  app: Parts<"mediaStorage" | "queues" | "thumbnails">,
  accountId: string,
  name: string,
  requestHeaders: Headers,
  width?: number,
): Promise<Response | AppError> {
  const key = parseMediaKey(accountId, name);
  const file = key && (await app.mediaStorage.find(key));
  if (!key || !file) return appError("not_found", "Media not found");

  const small = mediaTypeOf(key).startsWith("image/") ? width : undefined;
  // The content of a file never changes, so its name is a strong validator.
  const etag = small === undefined ? `"${key.name}"` : `"${key.name}-${small}"`;
  const headers = {
    "accept-ranges": "bytes",
    // Caches must revalidate, because the file may be deleted at any time.
    "cache-control": "public, no-cache",
    etag,
    ...SAFETY,
  };
  if (matches(requestHeaders.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  if (small !== undefined) {
    const bytes = await readThumbnail(app, key, file.path, small);
    if (isAppError(bytes)) return bytes;
    return new Response(bytes, {
      headers: { ...headers, "accept-ranges": "none", "content-type": "image/webp" },
    });
  }
  const condition = requestHeaders.get("if-range");
  const range =
    condition === null || condition === etag
      ? parseRange(requestHeaders.get("range"), file.bytes)
      : null;
  if (range === "unsatisfiable") {
    return appError("range_not_satisfiable", "The range lies outside the file", {
      headers: { "content-range": `bytes */${file.bytes}`, "accept-ranges": "bytes" },
    });
  }
  const { first, last } = range ?? { first: 0, last: file.bytes - 1 };
  return new Response(streamOf(read(file.path, first, last)), {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      "content-type": mediaTypeOf(key),
      ...(range ? { "content-range": `bytes ${first}-${last}/${file.bytes}` } : {}),
    },
  });
}

const matches = (header: string | null, etag: string): boolean =>
  (header ?? "").split(",").some((one) => ["*", etag, `W/${etag}`].includes(one.trim()));

/**
 * Returns the first and the last byte of the range, or null when the header must be ignored: it is
 * absent, malformed, or names several ranges.
 */
function parseRange(header: string | null, bytes: number) {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "") ?? [];
  if (from === "" && to === "") return null;
  if (from === "") {
    const length = Math.min(Number(to), bytes);
    return length === 0 ? "unsatisfiable" : { first: bytes - length, last: bytes - 1 };
  }
  const [first, last] = [Number(from), to === "" ? bytes - 1 : Number(to)];
  if (last < first) return to === "" ? "unsatisfiable" : null;
  return first >= bytes ? "unsatisfiable" : { first, last: Math.min(last, bytes - 1) };
}

/** Opens the file on the first read, so a body that is never read, as for HEAD, opens nothing. */
async function* read(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { start, end, highWaterMark: 256 * 1024 });
}
