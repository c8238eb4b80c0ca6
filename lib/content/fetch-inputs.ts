/** Fetches the media that a request names into files, and checks their content. */
import { join } from "node:path";
import { type AppError, invalidField, isAppError } from "@platform/endpoint/contract/app-error";
import type { TurnPolicies } from "@platform/kit/network-policy";
import { hostRefusal } from "@platform/kit/outbound/network-policy";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import { type DownloadLimits, download } from "@platform/media/download";
import type { MediaFile } from "@platform/media/port";
import { probeMedia } from "@platform/media/probe-media";
import { sniffFile } from "@platform/media/sniff-file";
import type { MediaKind } from "@platform/media/sniff-type";
import type { Parts } from "../parts.ts";
import { allowsLoopback } from "../platform/config.ts";
import type { MediaStorage } from "./storage/port.ts";

const MIB = 1024 * 1024;
const MAX_BYTES: Readonly<Record<MediaKind, number>> = {
  image: 20 * MIB,
  audio: 32 * MIB,
  video: 64 * MIB,
};
/** The deadline for one file. */
const DEADLINE_MS = 30_000;

const DESCRIPTIONS: Readonly<Record<MediaKind, string>> = {
  image: "an image (PNG, JPEG, WebP or GIF)",
  audio: "audio (MP3, M4A, WAV, OGG, FLAC, AAC or a video with sound)",
  video: "a video (MP4, QuickTime or WebM)",
};

export interface Input {
  /** The name of the field in the request, such as `image_url` or `images.1`. */
  readonly field: string;
  readonly url: URL;
  readonly kind: MediaKind;
  /** The network policies of the run that has named the URL; absent for all others. */
  readonly policies?: TurnPolicies | undefined;
}

export interface FetchedInput extends MediaFile {
  /** The length of audio and video. */
  readonly seconds?: number | undefined;
}

/** The parts of the service that fetch inputs. */
export type InputParts = Parts<"mediaStorage" | "queues">;

/** Checks the URLs without fetching them. Errors: 400. */
export function checkInputs(media: MediaStorage, inputs: readonly Input[]): AppError | null {
  for (const { field, url, policies = [] } of inputs) {
    // Media of this service are read from the storage, not over HTTP.
    if (media.keyOf(url) !== null) continue;
    const fault = faultOfUrl(url, allowsLoopback("media"));
    if (fault !== null) return badInput(field, fault);
    const refusal = hostRefusal(policies, url.hostname);
    if (refusal !== null) return invalidField(field, refusal);
  }
  return null;
}

/**
 * Fetches the inputs into new files of the folder. Errors: 400 for the first that cannot be used;
 * 429; 503.
 */
export async function fetchInputs(
  app: InputParts,
  accountId: string,
  inputs: readonly Input[],
  folder: string,
  signal: AbortSignal,
): Promise<FetchedInput[] | AppError> {
  const fetched = await Promise.all(
    inputs.map((input, index) =>
      fetchInput(app, accountId, input, join(folder, `input-${index}`), signal),
    ),
  );
  return fetched.find(isAppError) ?? fetched.flatMap((one) => (isAppError(one) ? [] : [one]));
}

async function fetchInput(
  app: InputParts,
  accountId: string,
  { field, url, kind, policies }: Input,
  path: string,
  signal: AbortSignal,
): Promise<FetchedInput | AppError> {
  const allowLoopback = allowsLoopback("media");
  const limits = { maxBytes: MAX_BYTES[kind], deadlineMs: DEADLINE_MS, allowLoopback, policies };
  const fault = await copyInput(app.mediaStorage, accountId, url, path, limits, signal);
  if (fault !== null) return badInput(field, fault);
  const contentType = await sniffFile(path);
  const wrong = badInput(field, `must be ${DESCRIPTIONS[kind]}`);
  if (contentType === null) return wrong;
  const file = { path, contentType, url: url.href };
  if (kind === "image") return contentType.startsWith("image/") ? file : wrong;
  if (contentType.startsWith("image/")) return wrong;
  const probed = await probeMedia(app.queues.probes, path, accountId, signal);
  if (isAppError(probed)) return probed;
  if (!probed || probed.kind === "image") return wrong;
  const fits = kind === "audio" ? probed.hasAudio : probed.kind === kind;
  return fits ? { ...file, seconds: probed.seconds } : wrong;
}

/**
 * Returns null on success, otherwise the end of a sentence that names the problem. Media of another
 * account fail exactly like missing media.
 */
async function copyInput(
  media: MediaStorage,
  accountId: string,
  url: URL,
  path: string,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<string | null> {
  const key = media.keyOf(url);
  if (key === null) return download(url, path, limits, signal);
  const isOwned = key !== "malformed" && key.accountId === accountId;
  return isOwned && (await media.copyTo(key, path)) ? null : "could not be fetched";
}

const badInput = (field: string, fault: string): AppError =>
  invalidField(field, `${field} ${fault}`);
