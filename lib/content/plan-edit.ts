/**
 * What a template adds to a result: a caption, and changes to the finished video. What the caller
 * asked for wins: a template's length, shape and audio apply only where the request says nothing.
 */
import { seedOf } from "./choose-motion.ts";
import type { VideoRequest } from "./contract.ts";
import type { AspectRatio, EditStep, VideoMode } from "./port.ts";
import type { ContentTemplate, EditOperation } from "./template.ts";

const MAX_OPERATIONS = 20;
const MAX_SECONDS = 600;
const MAX_CONTENT_CHARACTERS = 300;
/** The larger side of 4k. */
const MAX_PIXELS = 3840;
const MIN_PIXELS = 16;
const MAX_FONT_SIZE = 400;

/** An edit whose audio is still to be fetched. */
export type PlannedStep =
  | Exclude<EditStep, { readonly kind: "audio" }>
  | (Omit<Extract<EditStep, { readonly kind: "audio" }>, "audio"> & { readonly url: string });

/**
 * One of the template's examples, by the request's effect id: a repeated request gets the same one.
 * Nothing is written by a model, and the guide is for people and agents who write captions.
 */
export function chooseCaption(
  template: ContentTemplate | null,
  effectId: string,
): string | undefined {
  const examples = template?.caption?.examples ?? [];
  return examples[seedOf(effectId, "caption") % examples.length];
}

/** The steps of a template's edit, for this request; empty without any. */
export function planEdit(
  template: ContentTemplate | null,
  mode: VideoMode,
  request: VideoRequest,
  caption: string | undefined,
): PlannedStep[] {
  const operations = (template?.edit?.operations ?? []).slice(0, MAX_OPERATIONS);
  return operations.flatMap((operation) => {
    if (operation.audio_url !== undefined) return audioStep(operation, mode, request);
    if (operation.content !== undefined) return textStep(operation, caption);
    return [...trimStep(operation, mode, request), ...frameStep(operation, request)];
  });
}

/** The shape that a video is to be made in, so that as little as possible is cropped afterwards. */
export function aspectRatioOf(request: VideoRequest, steps: readonly PlannedStep[]): AspectRatio {
  if (request.aspect_ratio !== "auto") return request.aspect_ratio;
  const frame = steps.find((step) => step.kind === "frame");
  if (frame?.aspect === 16 / 9) return "16:9";
  return frame?.aspect === 9 / 16 ? "9:16" : "auto";
}

/** Of `extend` and `lipsync`, the caller's video and audio say how long the result is. */
function trimStep(operation: EditOperation, mode: VideoMode, request: VideoRequest): PlannedStep[] {
  const isGiven = request.duration !== undefined || mode === "extend" || mode === "lipsync";
  const { start, seconds } = windowOf(operation);
  if (isGiven || (start === 0 && seconds === undefined)) return [];
  return [{ kind: "trim", start, seconds }];
}

function frameStep(operation: EditOperation, request: VideoRequest): PlannedStep[] {
  if (request.aspect_ratio !== "auto") return [];
  const aspect = parseAspect(operation.aspect);
  // A resolution other than the default was asked for, and only the shape is left to the template.
  const isSized = request.resolution !== "720p";
  const width = isSized ? undefined : within(operation.width, MIN_PIXELS, MAX_PIXELS);
  const height = isSized ? undefined : within(operation.height, MIN_PIXELS, MAX_PIXELS);
  if (aspect === undefined && width === undefined && height === undefined) return [];
  return [{ kind: "frame", aspect, width, height }];
}

function textStep(operation: EditOperation, caption = ""): PlannedStep[] {
  const content = (operation.content ?? "")
    .replaceAll("{caption}", caption)
    .trim()
    .slice(0, MAX_CONTENT_CHARACTERS);
  if (content === "") return [];
  const font = /^[\p{L}\p{N} -]{1,60}$/u.exec(operation.font ?? "")?.[0].replace(/[\d ]+$/, "");
  return [
    {
      kind: "text",
      content,
      font: font || undefined,
      color: colorOf(operation.color),
      strokeColor: colorOf(operation.stroke_color),
      maxFontSize: within(operation.max_font_size, 8, MAX_FONT_SIZE),
      ...windowOf(operation),
    },
  ];
}

/** Not over what is sung or said in `lipsync`, nor over audio that was asked for. */
function audioStep(
  operation: EditOperation,
  mode: VideoMode,
  request: VideoRequest,
): PlannedStep[] {
  const url = operation.audio_url;
  if (mode === "lipsync" || request.generate_audio || !url || !URL.canParse(url)) return [];
  return [{ kind: "audio", url, replace: operation.replace ?? false, ...windowOf(operation) }];
}

const windowOf = ({ start, duration }: EditOperation) => ({
  start: within(start, 0, MAX_SECONDS) ?? 0,
  seconds: duration !== undefined && duration > 0 ? Math.min(duration, MAX_SECONDS) : undefined,
});

function parseAspect(text: string | undefined): number | undefined {
  const [, width, height] = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/.exec(text ?? "") ?? [];
  const aspect = Number(width) / Number(height);
  return aspect >= 1 / 3 && aspect <= 3 ? aspect : undefined;
}

const colorOf = (text: string | undefined): string | undefined =>
  /^#[0-9a-f]{6}$/i.exec(text ?? "")?.[0];

const within = (value: number | undefined, least: number, most: number): number | undefined =>
  value === undefined || !Number.isFinite(value)
    ? undefined
    : Math.min(most, Math.max(least, value));
