/** The port that every generator of images and videos implements. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { Checkable } from "@platform/kit/outbound/probe";
import { z } from "zod";

export const VIDEO_MODES = [
  "prompt",
  "animate",
  "reference",
  "extend",
  "first-last",
  "lipsync",
] as const;
export type VideoMode = (typeof VIDEO_MODES)[number];

export const ASPECT_RATIOS = ["auto", "16:9", "9:16"] as const;
/** `auto` is the aspect ratio of the first input, or the adapter's choice without an input. */
export type AspectRatio = (typeof ASPECT_RATIOS)[number];
/** Images also have the shapes of covers and posts. */
export const IMAGE_ASPECT_RATIOS = [...ASPECT_RATIOS, "1:1", "4:5"] as const;
export type ImageAspectRatio = (typeof IMAGE_ASPECT_RATIOS)[number];

/** The shorter side of a video: 720, 1080 or 2160 pixels. */
export const RESOLUTIONS = ["720p", "1080p", "4k"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** A template's rules about style, such as `{ palette: "muted", avoid: ["text"] }`. */
export type StyleRules = Readonly<Record<string, unknown>>;

/** An input that has been fetched and checked: its content is of the kind that its field requires. */
export interface MediaFile {
  /** A file on this machine: read-only, and deleted when the order completes. */
  readonly path: string;
  /** Detected from the content, such as `image/png`, `video/mp4` or `audio/mpeg`. */
  readonly contentType: string;
  /** The URL of the input, which a remote provider may fetch by itself. */
  readonly url: string;
}

/**
 * Each mode has its own inputs, and no others: `prompt`, `animate` and `reference` the image;
 * `first-last` both images; `extend` the video, of at most 8 s; `lipsync` the image and the audio.
 */
export interface VideoOrder {
  readonly mode: VideoMode;
  /** May be empty in every mode. */
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  /** A template's description of how the camera or the subject moves. */
  readonly movement?: string | undefined;
  readonly mood?: string | undefined;
  readonly styleRules?: StyleRules | undefined;
  readonly image?: MediaFile | undefined;
  readonly endImage?: MediaFile | undefined;
  readonly video?: MediaFile | undefined;
  readonly audio?: MediaFile | undefined;
  readonly aspectRatio: AspectRatio;
  /** 4, 6, 7 or 8; for `extend`, the added length. */
  readonly seconds: number;
  readonly resolution: Resolution;
  readonly generateAudio: boolean;
  /** The model that the caller chose. Default: the adapter's model for the mode. */
  readonly model?: string | undefined;
  /** 0 to 2^31 - 1; the same for every attempt at a request. */
  readonly seed: number;
}

/** One edit of a generated video. Times are seconds of the video that the previous step produced. */
export type EditStep =
  | { readonly kind: "trim"; readonly start: number; readonly seconds?: number | undefined }
  /** Crops the centre to the aspect ratio (width by height), then scales to the size in pixels. */
  | {
      readonly kind: "frame";
      readonly aspect?: number | undefined;
      readonly width?: number | undefined;
      readonly height?: number | undefined;
    }
  | {
      readonly kind: "text";
      readonly content: string;
      readonly font?: string | undefined;
      /** `#rrggbb`, as is `strokeColor`. */
      readonly color?: string | undefined;
      readonly strokeColor?: string | undefined;
      readonly maxFontSize?: number | undefined;
      readonly start: number;
      readonly seconds?: number | undefined;
    }
  /** Plays a file from the beginning of the video; `start` is the offset into the file. */
  | {
      readonly kind: "audio";
      readonly audio: MediaFile;
      readonly start: number;
      readonly seconds?: number | undefined;
      /** Whether it replaces the video's own audio or is mixed with it. */
      readonly replace: boolean;
    };

export interface ImageOrder {
  readonly prompt: string;
  /** References for style or subject, the most important first. */
  readonly references: readonly MediaFile[];
  /** 1 to 4. */
  readonly count: number;
  readonly aspectRatio: ImageAspectRatio;
  readonly resolution: Resolution;
  readonly styleRules?: StyleRules | undefined;
  readonly model?: string | undefined;
  readonly seed: number;
}

/** An order with the account whose share of this machine it uses. */
export type Ordered<Order> = Order & { readonly accountId: string };

/** A complete file in the given folder; the caller moves it into storage. */
export interface GeneratedFile {
  readonly path: string;
  readonly contentType: "video/mp4" | "image/png" | "image/jpeg" | "image/webp";
}

/** The fields of an output that no generative model has made. */
export const standInOutput = {
  placeholder: z.literal(true).optional(),
  notice: z.string().optional(),
};
export interface StandIn {
  readonly placeholder?: true | undefined;
  readonly notice?: string | undefined;
}

/** Identifies an order at its provider: JSON without secrets. `model` is the id used for pricing. */
export type Submission = Readonly<Record<string, string | number | boolean>>;

/**
 * A provider works on orders in its own time, and may be paid from their submission on: another
 * process can collect the results.
 *
 * Errors: 400 for an input that cannot be used; 429 and 503 with `retry-after` when too many orders wait;
 * 502 `Video generation failed` or `Image generation failed`; 504 when the provider's own deadline passes.
 */
export interface MediaProvider extends Checkable {
  readonly name: string;
  /** The notice on each result of a provider without a generative model; absent for any other provider. */
  readonly notice?: string;
  /** Whether it makes videos, too; images it always makes. */
  readonly makesVideos: boolean;
  /** Returns the model that the order will use, which its price depends on. */
  videoModel(order: Pick<VideoOrder, "mode" | "model">): string;
  imageModel(order: Pick<ImageOrder, "model">, references: number): string;
  /** Submits the order once: it is never retried. */
  submitVideo(order: Ordered<VideoOrder>, signal: AbortSignal): Promise<Submission | AppError>;
  submitImages(order: Ordered<ImageOrder>, signal: AbortSignal): Promise<Submission | AppError>;
  /**
   * Waits a few seconds for the files, at most as many images as were ordered. Resolves with null
   * while the provider works on them or does not answer. It may be repeated.
   */
  collect(
    submission: Submission,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError | null>;
  /** Cancels the order, on a best-effort basis. */
  cancel(submission: Submission): Promise<void>;
  /** Deletes the stored order, because its files are stored or its run has failed. */
  forget?(submission: Submission): Promise<void>;
}

const NAMES = { video: "Video", image: "Image" } as const;

/** Returns the error of a failure that the caller cannot correct. */
export const generationFailed = (kind: "video" | "image"): AppError =>
  appError("upstream_error", `${NAMES[kind]} generation failed`);

/** Returns the error of a generation whose deadline has passed. */
export const generationTimedOut = (kind: "video" | "image"): AppError =>
  appError("upstream_timeout", `${NAMES[kind]} generation timed out`);
