/**
 * Plans a template's additions to a result: motion, a caption, and edits of the generated video. The request
 * takes precedence: the template's length, shape and audio apply only where the request sets none.
 */
import { createHash } from "node:crypto";
import type { AppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import {
  type AspectRatio,
  type EditStep,
  generationFailed,
  type VideoMode,
} from "@platform/media/port";
import type { VideoRequest } from "./contract.ts";
import type { Input } from "./fetch-inputs.ts";
import type { ContentTemplate, EditOperation } from "./template.ts";

const MAX_OPERATIONS = 20;
const MAX_SECONDS = 600;
const MAX_CONTENT_CHARACTERS = 300;
/** The longer side of 4k. */
const MAX_SIDE_PIXELS = 3840;
const MIN_SIDE_PIXELS = 16;
const MIN_FONT_PIXELS = 8;
const MAX_FONT_PIXELS = 400;

/** A step of an edit whose audio has not been fetched yet. */
export type PlannedStep =
  | Exclude<EditStep, { readonly kind: "audio" }>
  | (Omit<Extract<EditStep, { readonly kind: "audio" }>, "audio"> & { readonly url: string });

/** The camera movement and the mood of a video; absent when the template has none. */
export interface Motion {
  readonly movement?: string | undefined;
  readonly mood?: string | undefined;
}

/**
 * Chooses a movement and a mood of the template by the effect id, the same for a repeated request.
 */
export function chooseMotion({ video }: ContentTemplate, effectId: string): Motion {
  const choose = (purpose: string, choices: readonly string[] = []) =>
    choices[seedOf(effectId, purpose) % choices.length];
  return { movement: choose("movement", video?.movements), mood: choose("mood", video?.moods) };
}

/**
 * Returns a seed from 0 to 2^31 - 1: the same for every attempt at a request, different for each
 * purpose.
 */
export function seedOf(effectId: string, purpose: string): number {
  return createHash("sha256").update(`${purpose} ${effectId}`).digest().readUInt32BE() >>> 1;
}

/**
 * Chooses one of the template's example captions by the effect id, so a repeated request gets the same
 * one. No model writes captions; the template's guide is for people and agents who do.
 */
export function chooseCaption(
  template: ContentTemplate | null,
  effectId: string,
): string | undefined {
  const examples = template?.caption?.examples ?? [];
  return examples[seedOf(effectId, "caption") % examples.length];
}

/** Returns the steps of the template's edit that apply to this request. */
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

/** Returns the aspect ratio of the generation at which the edit crops as little as possible. */
export function aspectRatioOf(request: VideoRequest, steps: readonly PlannedStep[]): AspectRatio {
  if (request.aspect_ratio !== "auto") return request.aspect_ratio;
  const frame = steps.find((step) => step.kind === "frame");
  if (frame?.aspect === 16 / 9) return "16:9";
  return frame?.aspect === 9 / 16 ? "9:16" : "auto";
}

/** Does not trim `extend` and `lipsync`, whose length follows from the caller's video or audio. */
function trimStep(operation: EditOperation, mode: VideoMode, request: VideoRequest): PlannedStep[] {
  const isGiven = request.duration !== undefined || mode === "extend" || mode === "lipsync";
  const { start, seconds } = windowOf(operation);
  if (isGiven || (start === 0 && seconds === undefined)) return [];
  return [{ kind: "trim", start, seconds }];
}

function frameStep(operation: EditOperation, request: VideoRequest): PlannedStep[] {
  if (request.aspect_ratio !== "auto") return [];
  const aspect = parseAspect(operation.aspect);
  // The request sets a resolution other than the default: only the shape is left to the template.
  const isSized = request.resolution !== "720p";
  const width = isSized ? undefined : clamp(operation.width, MIN_SIDE_PIXELS, MAX_SIDE_PIXELS);
  const height = isSized ? undefined : clamp(operation.height, MIN_SIDE_PIXELS, MAX_SIDE_PIXELS);
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
      maxFontSize: clamp(operation.max_font_size, MIN_FONT_PIXELS, MAX_FONT_PIXELS),
      ...windowOf(operation),
    },
  ];
}

/** Adds no audio to `lipsync`, nor to a video whose request asks for generated audio. */
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
  start: clamp(start, 0, MAX_SECONDS) ?? 0,
  seconds: duration !== undefined && duration > 0 ? Math.min(duration, MAX_SECONDS) : undefined,
});

function parseAspect(text: string | undefined): number | undefined {
  const [, width, height] = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/.exec(text ?? "") ?? [];
  const aspect = Number(width) / Number(height);
  return aspect >= 1 / 3 && aspect <= 3 ? aspect : undefined;
}

const colorOf = (text: string | undefined): string | undefined =>
  /^#[0-9a-f]{6}$/i.exec(text ?? "")?.[0];

const clamp = (value: number | undefined, min: number, max: number): number | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : Math.min(max, Math.max(min, value));

// Files that a template names are as untrusted as a caller's files, but their errors are not the caller's.

const FIELD = "template";

export const templateInput = (url: string, kind: Input["kind"]): Input => ({
  field: FIELD,
  url: new URL(url),
  kind,
});

/** Returns the audio files of an edit, in the order of its steps. */
export const audioInputs = (steps: readonly PlannedStep[]): Input[] =>
  steps.flatMap((step) => (step.kind === "audio" ? [templateInput(step.url, "audio")] : []));

/**
 * Turns an error about a template's file into a failure of the generation; returns others unchanged.
 */
export function asMediaFailure(error: AppError, kind: "video" | "image"): AppError {
  if (!error.fields?.includes(FIELD)) return error;
  log().warn({ cause: error.message }, "A file of a template cannot be used");
  return generationFailed(kind);
}
