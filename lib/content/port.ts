/**
 * What the service asks of whoever makes images and videos: a port with two adapters, fal's web API
 * and the renderer of this machine. Specification: POST /api/content/video; decisions, section 10.
 */
import type { AppError } from "../contract/app-error.ts";

/** Specification: the kinds of video. */
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
/** `auto`: that of the first input, or of the adapter's choice when there is none. */
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/** Of a video, the shorter side: 720, 1080 or 2160 pixels. */
export const RESOLUTIONS = ["720p", "1080p", "4k"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** A template's keys and words about the look: `{ palette: "muted", avoid: ["text"] }`. */
export type StyleRules = Readonly<Record<string, unknown>>;

/** An input that was fetched and checked: its content is of the kind that its place asks for. */
export interface MediaFile {
  /** On this machine, to be read only, and only until the order is done. */
  readonly path: string;
  /** By its content: `image/png`, `video/mp4`, `audio/mpeg`, … */
  readonly contentType: string;
  /** Where it came from: what a remote provider may be given to fetch itself. */
  readonly url: string;
}

/**
 * What each mode has: `prompt`, `animate` and `reference` the image; `first-last` both images;
 * `extend` the video, of at most 8 s; `lipsync` the image and the audio. The rest is absent.
 */
export interface VideoOrder {
  readonly mode: VideoMode;
  /** May be empty in every mode. */
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  /** How the camera or the subject moves, in words of a template. */
  readonly movement?: string | undefined;
  readonly mood?: string | undefined;
  readonly styleRules?: StyleRules | undefined;
  readonly image?: MediaFile | undefined;
  readonly endImage?: MediaFile | undefined;
  readonly video?: MediaFile | undefined;
  readonly audio?: MediaFile | undefined;
  readonly aspectRatio: AspectRatio;
  /** 4, 6, 7 or 8; of `extend`, how much is added. */
  readonly seconds: number;
  readonly resolution: Resolution;
  readonly generateAudio: boolean;
  /** The caller's own choice; without it, the adapter's for the mode. */
  readonly model?: string | undefined;
  /** 0 to 2^31 - 1; the same for every attempt at one request. */
  readonly seed: number;
  /** What is done with the finished video, in this order. */
  readonly edit?: readonly EditStep[] | undefined;
}

/** One change to a finished video; times are seconds of the video as the step before left it. */
export type EditStep =
  | { readonly kind: "trim"; readonly start: number; readonly seconds?: number | undefined }
  /** Crops from the middle to the shape (width by height), then scales to the size in pixels. */
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
  /** Plays a part of a file from the beginning of the video; `start` is a second of the file. */
  | {
      readonly kind: "audio";
      readonly audio: MediaFile;
      readonly start: number;
      readonly seconds?: number | undefined;
      /** Instead of the video's own sound, or over it. */
      readonly replace: boolean;
    };

export interface ImageOrder {
  readonly prompt: string;
  /** Images to follow in style or subject, the most important first. */
  readonly references: readonly MediaFile[];
  /** 1 to 4. */
  readonly count: number;
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly styleRules?: StyleRules | undefined;
  readonly model?: string | undefined;
  readonly seed: number;
}

/** An order, and whose share of this machine its work takes. */
export type Ordered<Order> = Order & { readonly accountId: string };

/** A whole file in the folder that was given; the caller moves it into storage. */
export interface GeneratedFile {
  readonly path: string;
  readonly contentType: "video/mp4" | "image/png" | "image/jpeg" | "image/webp";
}

/**
 * Errors of both: 400 for an input that cannot be used, 429 with `retry-after` where the account has
 * too much to do, 503 with `retry-after` where the wait for a turn takes too long, 502 `Video generation failed` or `Image generation failed`, 504 when its own deadline
 * passes; none names the provider. A signal that is
 * aborted ends the work soon, whatever is then returned or thrown.
 */
export interface ContentProvider {
  readonly name: "embedded" | "fal";
  video(
    order: Ordered<VideoOrder>,
    folder: string,
    signal: AbortSignal,
  ): Promise<GeneratedFile | AppError>;
  /** As many as were ordered. */
  images(
    order: Ordered<ImageOrder>,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError>;
}
