/**
 * Generates images and videos with fal's hosted models. fal reads inputs by URL: their own if it is
 * public, otherwise one in fal's storage. Results are downloaded like any untrusted file, because a
 * model that the caller chose may return any URL.
 *
 * The model determines the length of a video. Veo supports 4, 6 and 8 s, so 7 s become 8 s;
 * `reference` is 8 s; `extend` appends 7 s to its input; `lipsync` is as long as its audio.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { log } from "../../../platform/log.ts";
import { isLoopback } from "../../../platform/outbound/public-address.ts";
import { runtimePath } from "../../../platform/runtime-path.ts";
import { download } from "../../media/download.ts";
import { probeMedia } from "../../media/probe-media.ts";
import { sniffFile } from "../../media/sniff-file.ts";
import type {
  AspectRatio,
  ContentProvider,
  GeneratedFile,
  MediaFile,
  Ordered,
  Submission,
  VideoOrder,
} from "../../port.ts";
import {
  describeImages,
  describeVideo,
  imageModel,
  type ModelRequest,
  videoModel,
} from "./describe-order.ts";
import { probeFal } from "./probe.ts";
import { awaitResult, cancel, type Fault, mayPass, queuedRequest, submit } from "./queue.ts";
import { upload } from "./upload.ts";

export interface FalSettings {
  readonly key: string;
  readonly baseUrl?: string | undefined;
  readonly storageUrl?: string | undefined;
  /** Milliseconds that one poll for a result waits for it. Default: 10,000. */
  readonly patienceMs?: number | undefined;
  /** Milliseconds for one HTTP request to fal's queue. Default: 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds between two status requests. Default: 1,500. */
  readonly pollMs?: number | undefined;
  /** Receives the cause of a failure, for the operator's log only. */
  readonly report?: ((cause: string) => void) | undefined;
}

const MIB = 1024 * 1024;
const MAX_VIDEO_BYTES = 512 * MIB;
const MAX_IMAGE_BYTES = 64 * MIB;
const DOWNLOAD_TIMEOUT_MS = 120_000;

const modelId = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9._-]*)+$/i;
const videoOutput = z.object({ video: z.object({ url: z.url() }) });
const imagesOutput = z.object({
  images: z.array(z.object({ url: z.url() })).min(1),
  has_nsfw_concepts: z.array(z.boolean()).optional(),
});

const FAILED = { video: "Video generation failed", images: "Image generation failed" } as const;
/** The identifiers of a submitted order. */
const submitted = queuedRequest.extend({
  kind: z.enum(["video", "images"]),
  /** How many files are wanted of it. */
  count: z.int().min(1),
  /** Whether the caller chose the model. */
  hasOwnModel: z.boolean(),
  /** Absent in orders of the version before. */
  model: z.string().optional(),
});
type Submitted = z.output<typeof submitted>;
const unknownModel = appError("invalid_request", "model is not known", { fields: ["model"] });
const refused = appError("invalid_request", "The prompt or an input was refused as unsuitable");

export function createFalContent(settings: FalSettings): ContentProvider {
  const { key, baseUrl = "https://queue.fal.run", storageUrl = "https://rest.fal.ai" } = settings;
  const { patienceMs = 10_000, requestTimeoutMs = 30_000, pollMs = 1_500 } = settings;
  const { report = (cause: string) => log().warn({ cause }, "Generation failed") } = settings;
  const requests = { key, baseUrl, requestTimeoutMs, pollMs };
  const allowLoopback = isLoopback(new URL(baseUrl));

  /** Returns a URL at which fal can read the file. */
  const publish = async (
    file: MediaFile,
    failed: string,
    signal: AbortSignal,
  ): Promise<string | AppError> => {
    if (file.url.startsWith("https:")) return file.url;
    const url = await upload({ key, storageUrl }, file, signal);
    if (url !== null) return url;
    report("the upload of an input failed");
    return appError("upstream_error", failed);
  };

  const send = async (
    { model, input }: ModelRequest,
    more: Pick<Submitted, "kind" | "count" | "hasOwnModel">,
    signal: AbortSignal,
  ): Promise<Submission | AppError> => {
    if (!modelId.test(model)) return unknownModel;
    if (signal.aborted) return appError("upstream_error", FAILED[more.kind]);
    const sent = await submit(requests, model, input);
    if (sent.kind === "submitted") return { ...more, ...sent.request, model } satisfies Submitted;
    report(JSON.stringify(sent));
    return describe(sent, FAILED[more.kind], more.hasOwnModel);
  };

  /** Downloads a result to the path. Its bytes, not its headers, determine its content type. */
  const fetchResult = async (
    address: string,
    path: string,
    kind: "image" | "video",
    failed: string,
    signal: AbortSignal,
  ): Promise<GeneratedFile | AppError> => {
    const maxBytes = kind === "video" ? MAX_VIDEO_BYTES : MAX_IMAGE_BYTES;
    const limits = { maxBytes, deadlineMs: DOWNLOAD_TIMEOUT_MS, allowLoopback };
    const fault = await download(new URL(address), path, limits, signal);
    const contentType = fault === null ? typeOf(await sniffFile(path), kind) : null;
    if (contentType) return { path, contentType };
    await rm(path, { force: true });
    report(`the result ${fault ?? "has an unexpected type"}`);
    return appError("upstream_error", failed);
  };

  const fetchImages = async (
    result: z.output<typeof imagesOutput>,
    count: number,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError> => {
    const fetched: GeneratedFile[] = [];
    for (const [at, { url }] of result.images.slice(0, count).entries()) {
      const path = runtimePath(folder, `image-${at + 1}`);
      const file = await fetchResult(url, path, "image", FAILED.images, signal);
      if (!isAppError(file)) fetched.push(file);
      else {
        for (const one of fetched) await rm(one.path, { force: true });
        return file;
      }
    }
    return fetched;
  };

  return {
    name: "fal",
    makesVideos: true,
    videoModel,
    imageModel,
    check: (deadline) => probeFal({ key, storageUrl, baseUrl }, deadline),

    async submitVideo(order, signal) {
      const urls: Partial<Record<"image" | "endImage" | "video" | "audio", string>> = {};
      for (const name of ["image", "endImage", "video", "audio"] as const) {
        const file = order[name];
        if (!file) continue;
        const url = await publish(file, FAILED.video, signal);
        if (isAppError(url)) return url;
        urls[name] = url;
      }
      const request = describeVideo(order, urls, await resolveAspectRatio(order, signal));
      const hasOwnModel = order.model !== undefined;
      return send(request, { kind: "video", count: 1, hasOwnModel }, signal);
    },

    async submitImages(order, signal) {
      const references: string[] = [];
      for (const file of order.references) {
        const url = await publish(file, FAILED.images, signal);
        if (isAppError(url)) return url;
        references.push(url);
      }
      const { count, model } = order;
      const request = describeImages(order, references);
      return send(request, { kind: "images", count, hasOwnModel: model !== undefined }, signal);
    },

    async collect(submission, folder, signal) {
      const { kind, count, hasOwnModel, ...request } = submitted.parse(submission);
      const failed = FAILED[kind];
      const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const found = await awaitResult(requests, request, patience);
      if (found.kind === "pending") return null;
      if (found.kind !== "done") {
        report(JSON.stringify(found));
        // It is paid for.
        return mayPass(found) ? null : describe(found, failed, hasOwnModel);
      }
      if (kind === "images") {
        const result = imagesOutput.safeParse(found.output).data;
        if (!result) return unexpectedOutput(failed);
        if (result.has_nsfw_concepts?.includes(true)) return refused;
        return fetchImages(result, count, folder, signal);
      }
      const result = videoOutput.safeParse(found.output).data;
      if (!result) return unexpectedOutput(failed);
      const path = join(folder, "video.mp4");
      const file = await fetchResult(result.video.url, path, "video", failed, signal);
      return isAppError(file) ? file : [file];
    },

    cancel: (submission) => cancel(requests, submitted.parse(submission)),
  };

  function unexpectedOutput(failed: string): AppError {
    report("the model returned unexpected output");
    return appError("upstream_error", failed);
  }
}

/** fal's error types for an input that a model cannot use. */
const INPUT_FAULT = /^(file|image|video|audio)_|^unsupported_(image|video|audio)|face_detection/;

function describe(fault: Fault, failed: string, hasOwnModel: boolean): AppError {
  if (fault.kind === "timeout") return appError("upstream_timeout", failed);
  if (fault.kind !== "refused") return appError("upstream_error", failed);
  if (fault.types.includes("content_policy_violation")) return refused;
  if (fault.status === 429) {
    return appError("rate_limited", "Too many requests", {
      headers: { "retry-after": fault.retryAfter ?? "30" },
    });
  }
  if (fault.types.some((type) => INPUT_FAULT.test(type))) {
    return appError("invalid_request", "An input cannot be used by the model");
  }
  if (hasOwnModel && fault.status === 404) return unknownModel;
  if (hasOwnModel && fault.status === 422) {
    return appError("invalid_request", "model does not take the inputs of this mode", {
      fields: ["model"],
    });
  }
  return appError("upstream_error", failed);
}

/**
 * Resolves `auto` for `reference`, the only mode whose model does not detect the shape of its input.
 */
async function resolveAspectRatio(
  { mode, aspectRatio, image, accountId }: Ordered<VideoOrder>,
  signal: AbortSignal,
): Promise<AspectRatio> {
  if (mode !== "reference" || aspectRatio !== "auto" || !image) return aspectRatio;
  const probed = await probeMedia(image.path, accountId, signal);
  const isKnown = probed !== null && !isAppError(probed) && probed.kind === "image";
  const isUpright = isKnown && probed.height > probed.width;
  return isUpright ? "9:16" : "16:9";
}

function typeOf(type: string | null, kind: "image" | "video"): GeneratedFile["contentType"] | null {
  if (kind === "video") return type === "video/mp4" ? type : null;
  return type === "image/png" || type === "image/jpeg" || type === "image/webp" ? type : null;
}
