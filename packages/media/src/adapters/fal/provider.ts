/**
 * Generates images and videos with fal's hosted models. fal reads inputs by URL: their own if it is
 * public, otherwise one in fal's storage. Results are downloaded like any untrusted file, because a
 * model that the caller chose may return any URL.
 *
 * The model determines the length of a video. Veo supports 4, 6 and 8 s, so 7 s become 8 s;
 * `reference` is 8 s; `extend` appends 7 s to its input; `lipsync` is as long as its audio.
 */
import { rm } from "node:fs/promises";
import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import type { FairQueue } from "@platform/kit/fair-queue";
import { log } from "@platform/kit/log";
import { isLoopback } from "@platform/kit/outbound/public-address";
import { runtimePath } from "@platform/kit/runtime-path";
import { z } from "zod";
import { download } from "../../download.ts";
import {
  type AspectRatio,
  type GeneratedFile,
  generationFailed,
  type ImageOrder,
  type MediaFile,
  type MediaProvider,
  type Ordered,
  type Submission,
  type VideoMode,
  type VideoOrder,
} from "../../port.ts";
import { probeMedia } from "../../probe-media.ts";
import { sniffFile } from "../../sniff-file.ts";
import { type FalAccess, FalClient, type Fault, mayPass, queuedRequest } from "./client.ts";
import {
  describeImages,
  describeVideo,
  imageModel,
  type ModelRequest,
  videoModel,
} from "./describe-order.ts";

export interface FalSettings extends FalAccess {
  /** The queue of probes, which find the shape of an image. */
  readonly probes: FairQueue;
  /** Milliseconds that one poll for a result waits for it. Default: 10,000. */
  readonly patienceMs?: number;
  /** The models by purpose, in place of the defaults. */
  readonly models?:
    | Readonly<Partial<Record<VideoMode | "image" | "image-edit", string>>>
    | undefined;
  /** Receives the cause of a failure, for the operator's log only. */
  readonly report?: (cause: string) => void;
}

const MIB = 1024 * 1024;
const MAX_BYTES = { video: 512 * MIB, image: 64 * MIB } as const;
const DOWNLOAD_TIMEOUT_MS = 120_000;
const TYPES: Readonly<Record<Kind, readonly GeneratedFile["contentType"][]>> = {
  video: ["video/mp4"],
  image: ["image/png", "image/jpeg", "image/webp"],
};

const modelId = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9._-]*)+$/i;
const file = z.object({ url: z.url() });
const output = z.union([
  z.object({ video: file }).transform(({ video }) => ({ files: [video], isRefused: false })),
  z
    .object({
      images: z.array(file).min(1),
      has_nsfw_concepts: z.array(z.boolean()).default([]),
    })
    .transform((made) => ({
      files: made.images,
      isRefused: made.has_nsfw_concepts.includes(true),
    })),
]);

/** The identifiers of a submitted order. */
const submitted = queuedRequest.extend({
  kind: z.enum(["video", "image"]),
  /** The number of requested files. */
  count: z.int().min(1),
  /** Whether the caller chose the model. */
  hasOwnModel: z.boolean(),
  model: z.string(),
});
type Submitted = z.output<typeof submitted>;
type Kind = Submitted["kind"];
const unknownModel = invalidField("model", "model is not known");
const refused = appError("invalid_request", "The prompt or an input was refused as unsuitable");

export class FalMedia implements MediaProvider {
  readonly name = "fal";
  readonly makesVideos = true;
  readonly #client: FalClient;
  readonly #probes: FairQueue;
  readonly #patienceMs: number;
  readonly #allowLoopback: boolean;
  readonly #report: (cause: string) => void;

  readonly #models: NonNullable<FalSettings["models"]>;

  constructor(settings: FalSettings) {
    this.#models = settings.models ?? {};
    this.#client = new FalClient(settings);
    this.#probes = settings.probes;
    this.#patienceMs = settings.patienceMs ?? 10_000;
    this.#allowLoopback = isLoopback(new URL(settings.baseUrl));
    this.#report = settings.report ?? ((cause) => log().warn({ cause }, "Generation failed"));
  }

  videoModel({ mode, model = this.#models[mode] }: Pick<VideoOrder, "mode" | "model">) {
    return videoModel({ mode, model });
  }

  imageModel({ model }: Pick<ImageOrder, "model">, references: number) {
    const own = this.#models[references > 0 ? "image-edit" : "image"];
    return imageModel({ model: model ?? own }, references);
  }

  check(deadline: AbortSignal) {
    return this.#client.check(deadline);
  }

  async submitVideo(
    order: Ordered<VideoOrder>,
    signal: AbortSignal,
  ): Promise<Submission | AppError> {
    const { image, endImage, video, audio } = order;
    const files = [image, endImage, video, audio];
    const urls = await this.#publish(files, "video", signal);
    if (isAppError(urls)) return urls;
    const [imageUrl, endImageUrl, videoUrl, audioUrl] = urls;
    const request = describeVideo(
      { ...order, model: this.videoModel(order) },
      { image: imageUrl, endImage: endImageUrl, video: videoUrl, audio: audioUrl },
      await resolveAspectRatio(this.#probes, order, signal),
    );
    const hasOwnModel = order.model !== undefined;
    return this.#submit(request, { kind: "video", count: 1, hasOwnModel }, signal);
  }

  async submitImages(
    order: Ordered<ImageOrder>,
    signal: AbortSignal,
  ): Promise<Submission | AppError> {
    const urls = await this.#publish(order.references, "image", signal);
    if (isAppError(urls)) return urls;
    const request = describeImages(
      { ...order, model: this.imageModel(order, order.references.length) },
      urls.flatMap((url) => url ?? []),
    );
    const { count, model } = order;
    return this.#submit(
      request,
      { kind: "image", count, hasOwnModel: model !== undefined },
      signal,
    );
  }

  async collect(
    submission: Submission,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError | null> {
    const { kind, count, hasOwnModel, ...request } = submitted.parse(submission);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(this.#patienceMs)]);
    const found = await this.#client.awaitResult(request, patience);
    if (found.kind === "pending") return null;
    if (found.kind !== "done") {
      this.#report(JSON.stringify(found));
      // It is paid for.
      return mayPass(found) ? null : describe(found, kind, hasOwnModel);
    }
    const made = output.safeParse(found.output).data;
    if (!made) {
      this.#report("the model returned unexpected output");
      return generationFailed(kind);
    }
    if (made.isRefused) return refused;
    const files: GeneratedFile[] = [];
    for (const [at, { url }] of made.files.slice(0, count).entries()) {
      const file = await this.#fetch(url, runtimePath(folder, `${kind}-${at + 1}`), kind, signal);
      if (!isAppError(file)) {
        files.push(file);
        continue;
      }
      for (const { path } of files) await rm(path, { force: true });
      return file;
    }
    return files;
  }

  cancel(submission: Submission): Promise<void> {
    return this.#client.cancel(submitted.parse(submission));
  }

  /** Returns URLs at which fal can read the files, in their order. */
  async #publish(
    files: readonly (MediaFile | undefined)[],
    kind: Kind,
    signal: AbortSignal,
  ): Promise<readonly (string | undefined)[] | AppError> {
    const urls: (string | undefined)[] = [];
    for (const file of files) {
      const isPublic = file?.url.startsWith("https:");
      const url = !file || isPublic ? file?.url : await this.#client.upload(file, signal);
      if (url === null) {
        this.#report("the upload of an input failed");
        return generationFailed(kind);
      }
      urls.push(url);
    }
    return urls;
  }

  async #submit(
    { model, input }: ModelRequest,
    order: Pick<Submitted, "kind" | "count" | "hasOwnModel">,
    signal: AbortSignal,
  ): Promise<Submission | AppError> {
    if (!modelId.test(model)) return unknownModel;
    if (signal.aborted) return generationFailed(order.kind);
    const sent = await this.#client.submit(model, input);
    if (sent.kind === "submitted") return { ...order, ...sent.request, model } satisfies Submitted;
    this.#report(JSON.stringify(sent));
    return describe(sent, order.kind, order.hasOwnModel);
  }

  /** Downloads a result to the path. Its bytes, not its headers, determine its content type. */
  async #fetch(
    address: string,
    path: string,
    kind: Kind,
    signal: AbortSignal,
  ): Promise<GeneratedFile | AppError> {
    const limits = {
      maxBytes: MAX_BYTES[kind],
      deadlineMs: DOWNLOAD_TIMEOUT_MS,
      allowLoopback: this.#allowLoopback,
    };
    const fault = await download(new URL(address), path, limits, signal);
    const sniffed = fault === null ? await sniffFile(path) : null;
    const contentType = TYPES[kind].find((type) => type === sniffed);
    if (contentType) return { path, contentType };
    await rm(path, { force: true });
    this.#report(`the result ${fault ?? "has an unexpected type"}`);
    return generationFailed(kind);
  }
}

/** fal's error types for an input that a model cannot use. */
const INPUT_FAULT = /^(file|image|video|audio)_|^unsupported_(image|video|audio)|face_detection/;

function describe(fault: Fault, kind: Kind, hasOwnModel: boolean): AppError {
  const failed = generationFailed(kind);
  if (fault.kind === "timeout") return { ...failed, code: "upstream_timeout" };
  if (fault.kind !== "refused") return failed;
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
    return invalidField("model", "model does not take the inputs of this mode");
  }
  return failed;
}

/**
 * Resolves `auto` for `reference`, the only mode whose model does not detect the shape of its input.
 */
async function resolveAspectRatio(
  probes: FairQueue,
  { mode, aspectRatio, image, accountId }: Ordered<VideoOrder>,
  signal: AbortSignal,
): Promise<AspectRatio> {
  if (mode !== "reference" || aspectRatio !== "auto" || !image) return aspectRatio;
  const probed = await probeMedia(probes, image.path, accountId, signal);
  const isKnown = probed !== null && !isAppError(probed) && probed.kind === "image";
  const isUpright = isKnown && probed.height > probed.width;
  return isUpright ? "9:16" : "16:9";
}
