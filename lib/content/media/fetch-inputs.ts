/** The media that a request names, fetched into files and checked. Decisions, section 10. */

import { join } from "node:path";
import { type AppError, appError, isAppError } from "../../contract/app-error.ts";
import { config } from "../../platform/config.ts";
import { services } from "../../platform/services.ts";
import type { MediaFile } from "../port.ts";
import { faultOfUrl } from "./check-url.ts";
import { download } from "./download.ts";
import { probeMedia } from "./probe-media.ts";
import { sniffFile } from "./sniff-file.ts";
import type { MediaKind } from "./sniff-type.ts";

const MIB = 1024 * 1024;
const MAX_BYTES: Readonly<Record<MediaKind, number>> = {
  image: 20 * MIB,
  audio: 32 * MIB,
  video: 64 * MIB,
};
/** Milliseconds for one file. */
const DEADLINE = 30_000;

const WANTED: Readonly<Record<MediaKind, string>> = {
  image: "an image (PNG, JPEG, WebP or GIF)",
  audio: "audio (MP3, M4A, WAV, OGG, FLAC, AAC or a video with sound)",
  video: "a video (MP4, QuickTime or WebM)",
};

export interface Input {
  /** As the request names it: `image_url`, `images.1`. */
  readonly field: string;
  readonly url: URL;
  readonly kind: MediaKind;
}

export interface FetchedInput extends MediaFile {
  /** Of audio and video. */
  readonly seconds?: number | undefined;
}

/** What can be told without going there. Errors: 400. */
export function checkInputs(inputs: readonly Input[]): AppError | null {
  for (const { field, url } of inputs) {
    // The storage's own URLs are read from it, and not by HTTP.
    const fault = services().media.keyOf(url) === null && faultOfUrl(url, allowLoopback());
    if (fault) return badInput(field, fault);
  }
  return null;
}

/** In the order given, into new files of the folder. Errors: 400 for the first that is no good; 429; 503. */
export async function fetchInputs(
  accountId: string,
  inputs: readonly Input[],
  folder: string,
  signal: AbortSignal,
): Promise<FetchedInput[] | AppError> {
  const fetched = await Promise.all(
    inputs.map((input, place) =>
      fetchInput(accountId, input, join(folder, `input-${place}`), signal),
    ),
  );
  const files: FetchedInput[] = [];
  for (const one of fetched) {
    if (isAppError(one)) return one;
    files.push(one);
  }
  return files;
}

async function fetchInput(
  accountId: string,
  { field, url, kind }: Input,
  path: string,
  signal: AbortSignal,
): Promise<FetchedInput | AppError> {
  const fault = await copyInput(accountId, url, path, MAX_BYTES[kind], signal);
  if (fault !== null) return badInput(field, fault);
  const contentType = await sniffFile(path);
  const wrong = badInput(field, `must be ${WANTED[kind]}`);
  if (contentType === null) return wrong;
  const file = { path, contentType, url: url.href };
  if (kind === "image") return contentType.startsWith("image/") ? file : wrong;
  if (contentType.startsWith("image/")) return wrong;
  const probed = await probeMedia(path, accountId, signal);
  if (isAppError(probed)) return probed;
  if (!probed || probed.kind === "image") return wrong;
  const fits = kind === "audio" ? probed.hasAudio : probed.kind === kind;
  return fits ? { ...file, seconds: probed.seconds } : wrong;
}

/** Null when it is there, else the end of a sentence. Foreign media are as those that are missing. */
async function copyInput(
  accountId: string,
  url: URL,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string | null> {
  const storage = services().media;
  const own = storage.keyOf(url);
  if (own === null) {
    const limits = { maxBytes, deadlineMs: DEADLINE, allowLoopback: allowLoopback() };
    return download(url, path, limits, signal);
  }
  const isTheirs = own !== "malformed" && own.accountId === accountId;
  return isTheirs && (await storage.copyTo(own, path)) ? null : "could not be fetched";
}

function allowLoopback(): boolean {
  const { MEDIA_LOOPBACK, NODE_ENV } = config();
  return MEDIA_LOOPBACK ?? NODE_ENV === "development";
}

const badInput = (field: string, fault: string): AppError =>
  appError("invalid_request", `${field} ${fault}`, { fields: [field] });
