/** Uploads of media, which have URLs as generated files have. */
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import type { App } from "../app.ts";
import { type AppError, appError } from "../contract/app-error.ts";
import { mediaQuotaExceeded } from "../contract/quota.ts";
import { config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import { MAX_UPLOAD_BYTES } from "./contract.ts";
import { sniffFile } from "./media/sniff-file.ts";
import { isMediaType, newMediaKey } from "./storage/media-name.ts";
import { withWorkFolder } from "./work-folder.ts";

const tooLarge = appError("payload_too_large", "Request body too large");
const notMedia = appError(
  "invalid_request",
  "The body must be an image (PNG, JPEG, WebP or GIF), a video (MP4, QuickTime or WebM) or audio (MP3, M4A, WAV, OGG, FLAC or AAC)",
);

/**
 * Stores the body of a request as a file of the account.
 *
 * Errors: 400 for a body that is incomplete or no media by its first bytes, 403 when the account has no
 * room, 413. @throws DatabaseUnavailable
 */
export function uploadMedia({ media }: Pick<App, "media">, accountId: string, request: Request) {
  return withWorkFolder(async (folder) => {
    const path = join(folder, "upload");
    const size = await saveBody(request, path);
    if (typeof size !== "number") return size;
    const contentType = await sniffFile(path);
    if (!isMediaType(contentType)) return notMedia;
    const key = newMediaKey(accountId, contentType);
    const file = { p_account_id: accountId, p_name: key.name };
    const reservation = {
      ...{ p_account_id: accountId, p_run_id: null, p_limit_bytes: config().ACCOUNT_MEDIA_BYTES },
      p_files: [{ name: key.name, bytes: size }],
    };
    if ((await call("reserve_media", reservation, z.string())) === "full") {
      return mediaQuotaExceeded;
    }
    try {
      const url = await media.store(key, { path, contentType });
      return { url, content_type: contentType, bytes: size };
    } catch (error) {
      await call("note_media_check", { ...file, p_bytes: null }, z.null());
      throw error;
    }
  });
}

/** Returns the number of bytes. */
async function saveBody({ body, headers }: Request, path: string): Promise<number | AppError> {
  if (Number(headers.get("content-length") ?? 0) > MAX_UPLOAD_BYTES || body === null) {
    await body?.cancel();
    return body === null ? notMedia : tooLarge;
  }
  let size = 0;
  const bounded = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      size += piece.byteLength;
      if (size > MAX_UPLOAD_BYTES) return;
      yield piece;
    }
  };
  try {
    await pipeline(body, bounded, createWriteStream(path, { flags: "wx" }));
  } catch {
    return appError("invalid_request", "The request body is incomplete");
  }
  return size > MAX_UPLOAD_BYTES ? tooLarge : size;
}
