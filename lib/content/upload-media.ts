/** Uploads of media, which have URLs as generated files have. */
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { appError, isAppError } from "@platform/endpoint/contract/app-error";
import { mediaQuotaExceeded } from "@platform/endpoint/contract/quota";
import { sniffFile } from "@platform/media/sniff-file";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import { takeBody } from "../sandbox/sandbox-files.ts";
import { MAX_UPLOAD_BYTES } from "./contract.ts";
import { isMediaType, newMediaKey } from "./storage/media-name.ts";
import { withWorkFolder } from "./work-folder.ts";

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
export function uploadMedia(
  { db, mediaStorage }: Parts<"db" | "mediaStorage">,
  accountId: string,
  request: Request,
) {
  return withWorkFolder(async (folder) => {
    const path = join(folder, "upload");
    const fault = await takeBody(request, MAX_UPLOAD_BYTES, (content) =>
      pipeline(content, createWriteStream(path)),
    );
    if (isAppError(fault)) return fault;
    const { size } = await stat(path);
    const contentType = await sniffFile(path);
    if (!isMediaType(contentType)) return notMedia;
    const key = newMediaKey(accountId, contentType);
    const reservation = {
      accountId,
      runId: null,
      files: [{ name: key.name, bytes: size }],
      limitBytes: config().ACCOUNT_MEDIA_BYTES,
    };
    if ((await call(db, "reserve_media", reservation, z.string())) === "full") {
      return mediaQuotaExceeded;
    }
    try {
      const url = await mediaStorage.store(key, { path, contentType });
      return { url, content_type: contentType, bytes: size };
    } catch (error) {
      const missing = { accountId, name: key.name, bytes: null };
      await call(db, "note_media_check", missing);
      throw error;
    }
  });
}
