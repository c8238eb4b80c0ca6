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
import { FairQueue } from "../../../platform/fair-queue.ts";
import { log } from "../../../platform/log.ts";
import { isLoopback } from "../../media/check-url.ts";
import { download } from "../../media/download.ts";
import { probeMedia } from "../../media/probe-media.ts";
import { sniffFile } from "../../media/sniff-file.ts";
import type {
  AspectRatio,
  ContentProvider,
  GeneratedFile,
  MediaFile,
  Ordered,
  VideoOrder,
} from "../../port.ts";
import { editVideo } from "../embedded/edit-video.ts";
import { describeImages, describeVideo, type ModelRequest } from "./describe-order.ts";
import { type Fault, runInQueue } from "./queue.ts";
import { upload } from "./upload.ts";

export interface FalSettings {
  readonly key: string;
  readonly baseUrl?: string | undefined;
  readonly storageUrl?: string | undefined;
  /** Milliseconds for one order, including uploads and downloads. Default: 900,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one HTTP request to fal's queue. Default: 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds between two status requests. Default: 1,500. */
  readonly pollMs?: number | undefined;
  /** The queue in which edits, which are rendered on this machine, wait for a slot. */
  readonly queue?: FairQueue | undefined;
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

const VIDEO_FAILED = "Video generation failed";
const IMAGE_FAILED = "Image generation failed";
const unknownModel = appError("invalid_request", "model is not known", { fields: ["model"] });
const refused = appError("invalid_request", "The prompt or an input was refused as unsuitable");

export function createFalContent(settings: FalSettings): ContentProvider {
  const { key, baseUrl = "https://queue.fal.run", storageUrl = "https://rest.fal.ai" } = settings;
  const { timeoutMs = 900_000, requestTimeoutMs = 30_000, pollMs = 1_500 } = settings;
  const { report = (cause: string) => log().warn({ cause }, "Generation failed") } = settings;
  const { queue = new FairQueue({ slots: 2, waitersPerAccount: 20, maxWaitMs: 900_000 }) } =
    settings;
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

  const run = async (
    request: ModelRequest,
    hasOwnModel: boolean,
    failed: string,
    deadline: AbortSignal,
    signal: AbortSignal,
  ): Promise<{ readonly output: unknown } | AppError> => {
    if (!modelId.test(request.model)) return unknownModel;
    const done = await runInQueue(requests, request.model, request.input, deadline, signal);
    if (done.kind === "done") return done;
    report(JSON.stringify(done));
    return describe(done, failed, hasOwnModel);
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

  return {
    name: "fal",

    async video(order, folder, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([deadline, signal]);
      const urls: Partial<Record<"image" | "endImage" | "video" | "audio", string>> = {};
      for (const name of ["image", "endImage", "video", "audio"] as const) {
        const file = order[name];
        if (!file) continue;
        const url = await publish(file, VIDEO_FAILED, either);
        if (isAppError(url)) return url;
        urls[name] = url;
      }
      const request = describeVideo(order, urls, await resolveAspectRatio(order, either));
      const done = await run(request, order.model !== undefined, VIDEO_FAILED, deadline, signal);
      if (isAppError(done)) return done;
      const result = videoOutput.safeParse(done.output).data;
      if (!result) return unexpectedOutput(VIDEO_FAILED);
      const path = join(folder, "video.mp4");
      const file = await fetchResult(result.video.url, path, "video", VIDEO_FAILED, either);
      if (isAppError(file) || !order.edit?.length) return file;
      // The generated video has been paid for: without its edit it is still better than an error.
      const edit = { accountId: order.accountId, video: path, steps: order.edit, folder };
      const edited = await editVideo({ ...edit, signal: either }, queue, report);
      return edited ? { path: edited, contentType: "video/mp4" } : file;
    },

    async images(order, folder, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([deadline, signal]);
      const references: string[] = [];
      for (const file of order.references) {
        const url = await publish(file, IMAGE_FAILED, either);
        if (isAppError(url)) return url;
        references.push(url);
      }
      const files: GeneratedFile[] = [];
      // A model may return fewer images than requested.
      while (files.length < order.count) {
        const missing = order.count - files.length;
        const request = describeImages(order, references, missing, order.seed + files.length);
        const done = await run(request, order.model !== undefined, IMAGE_FAILED, deadline, signal);
        const made = isAppError(done)
          ? done
          : await fetchImages(done.output, missing, files.length);
        if (isAppError(made)) {
          for (const { path } of files) await rm(path, { force: true });
          return made;
        }
        files.push(...made);
      }
      return files;

      async function fetchImages(output: unknown, max: number, offset: number) {
        const result = imagesOutput.safeParse(output).data;
        if (!result) return unexpectedOutput(IMAGE_FAILED);
        if (result.has_nsfw_concepts?.includes(true)) return refused;
        const fetched: GeneratedFile[] = [];
        for (const [at, { url }] of result.images.slice(0, max).entries()) {
          const path = join(folder, `image-${offset + at + 1}`);
          const file = await fetchResult(url, path, "image", IMAGE_FAILED, either);
          if (isAppError(file)) {
            for (const one of fetched) await rm(one.path, { force: true });
            return file;
          }
          fetched.push(file);
        }
        return fetched;
      }
    },
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
