/** Applies the steps of an edit to a clip in order; each step edits the result of the previous one. */
import type { EditStep } from "../../../port.ts";
import { type Clip, FRAME_RATE, SAMPLE_RATE } from "./clip.ts";
import { drawText, type TextImage } from "./draw-text.ts";
import { coverView, drawView } from "./draw-view.ts";
import { createFrame, type Frame, frameFromRgb, type Size } from "./frame.ts";
import { openMedia } from "./open-media.ts";
import { mixSounds, readSound } from "./sound.ts";
import { UnusableInput } from "./unusable-input.ts";

type Step<K extends EditStep["kind"]> = Extract<EditStep, { readonly kind: K }>;

/** The box of a text and the position of its middle, in fractions of the frame's width and height. */
const TEXT_BOX = { width: 0.86, height: 0.4, middle: 0.76 } as const;
const DEFAULT_FONT_SIZE = 1 / 16;

/** @throws UnusableInput for an audio file that cannot be read. */
export async function editClip(clip: Clip, steps: readonly EditStep[]): Promise<Clip> {
  let edited = clip;
  for (const step of steps) {
    if (step.kind === "trim") edited = trim(edited, step);
    else if (step.kind === "frame") edited = reframe(edited, step);
    else if (step.kind === "text") edited = await addText(edited, step);
    else edited = await addAudio(edited, step);
  }
  return edited;
}

/** Ignores a start after the end, because a video needs at least one frame. */
function trim(clip: Clip, { start, seconds }: Step<"trim">): Clip {
  const first = Math.round(start * FRAME_RATE);
  if (first >= clip.length) return clip;
  const wanted = seconds === undefined ? clip.length : Math.round(seconds * FRAME_RATE);
  const length = Math.max(1, Math.min(clip.length - first, wanted));
  const frames = (async function* () {
    let at = 0;
    for await (const frame of clip.frames) {
      if (at >= first && at < first + length) yield frame;
      at += 1;
      if (at >= first + length) return;
    }
  })();
  const { sound } = clip;
  const cut = (samples: Float32Array) =>
    samples.slice(
      Math.round((first / FRAME_RATE) * SAMPLE_RATE),
      Math.round(((first + length) / FRAME_RATE) * SAMPLE_RATE),
    );
  return { ...clip, length, frames, sound: sound && mapSides(sound, cut) };
}

const mapSides = (
  sound: NonNullable<Clip["sound"]>,
  map: (side: Float32Array) => Float32Array,
) => ({
  left: map(sound.left),
  right: map(sound.right),
});

/** Crops the centre to the aspect ratio and scales it to the size. */
function reframe(clip: Clip, step: Step<"frame">): Clip {
  const size = sizeOf(clip, step);
  if (size.width === clip.width && size.height === clip.height) return clip;
  const view = coverView(clip, size);
  const frames = (async function* () {
    const target = createFrame(size);
    for await (const frame of clip.frames) {
      drawView(target, frame, view);
      yield target;
    }
  })();
  return { ...clip, ...size, frames };
}

/**
 * Derives a missing side from the other one and the aspect ratio. Without sides, the frame is only
 * cropped.
 */
function sizeOf({ width, height }: Size, step: Step<"frame">): Size {
  const shape = step.aspect ?? width / height;
  const even = (length: number) => Math.max(16, Math.round(length / 2) * 2);
  if (step.width && step.height) return { width: even(step.width), height: even(step.height) };
  if (step.width) return { width: even(step.width), height: even(step.width / shape) };
  if (step.height) return { width: even(step.height * shape), height: even(step.height) };
  const isWide = width / height > shape;
  return isWide ? { width: even(height * shape), height } : { width, height: even(width / shape) };
}

async function addText(clip: Clip, step: Step<"text">): Promise<Clip> {
  const text = await drawText(
    step.content,
    {
      font: step.font,
      color: step.color ?? "#ffffff",
      strokeColor: step.strokeColor,
      fontSize: step.maxFontSize ?? Math.min(clip.width, clip.height) * DEFAULT_FONT_SIZE,
    },
    { width: clip.width * TEXT_BOX.width, height: clip.height * TEXT_BOX.height },
  );
  if (!text) return clip;
  const layer = toLayer(text, clip);
  const first = Math.round(step.start * FRAME_RATE);
  const last = step.seconds === undefined ? clip.length : first + step.seconds * FRAME_RATE;
  const frames = (async function* () {
    const target = createFrame(clip);
    let at = 0;
    for await (const frame of clip.frames) {
      target.data.set(frame.data);
      if (at >= first && at < last) blend(target, layer);
      at += 1;
      yield target;
    }
  })();
  return { ...clip, frames };
}

/** A picture with the opacity of each sample, and its position in the frame. */
interface Layer {
  readonly frame: Frame;
  readonly alpha: Frame;
  readonly left: number;
  readonly top: number;
}

function toLayer({ rgba, width, height }: TextImage, clip: Size): Layer {
  // Sides and positions are even, so that the layer aligns with the chroma samples.
  const size = { width: (width + 1) & ~1, height: (height + 1) & ~1 };
  const rgb = new Uint8Array(size.width * size.height * 3);
  const alpha = createFrame(size);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [from, to] = [(row * width + column) * 4, row * size.width + column];
      rgb.set(rgba.subarray(from, from + 3), to * 3);
      alpha.y[to] = rgba[from + 3] ?? 0;
      // Of four, the last one stands for all: text is as sharp in chroma as a player shows it.
      const chroma = (row >> 1) * (size.width / 2) + (column >> 1);
      alpha.u[chroma] = Math.max(alpha.u[chroma] ?? 0, rgba[from + 3] ?? 0);
      alpha.v[chroma] = alpha.u[chroma] ?? 0;
    }
  }
  const left = Math.max(0, Math.round((clip.width - size.width) / 4) * 2);
  const middle = clip.height * TEXT_BOX.middle - size.height / 2;
  return {
    frame: frameFromRgb(rgb, size),
    alpha,
    left,
    top: Math.max(0, Math.round(middle / 2) * 2),
  };
}

function blend(target: Frame, { frame, alpha, left, top }: Layer): void {
  for (const plane of ["y", "u", "v"] as const) {
    const part = plane === "y" ? 1 : 2;
    const [columns, stride] = [frame.width / part, target.width / part];
    const rows = Math.min(frame.height, target.height - top) / part;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const from = row * columns + column;
        const to = (row + top / part) * stride + column + left / part;
        const under = target[plane][to] as number;
        const over = frame[plane][from] as number;
        target[plane][to] = under + ((over - under) * (alpha[plane][from] as number)) / 255;
      }
    }
  }
}

async function addAudio(clip: Clip, step: Step<"audio">): Promise<Clip> {
  const message = "audio_url of the template cannot be read as audio";
  const { audio } = await openMedia(step.audio.path, "audio_url of the template");
  if (!audio) throw new UnusableInput(message, "no audio track");
  const seconds = clip.length / FRAME_RATE;
  const sound = await readSound(
    audio,
    message,
    step.start,
    Math.min(step.seconds ?? seconds, seconds),
  );
  const own = clip.sound && !step.replace ? [{ sound: clip.sound, from: 0 }] : [];
  return { ...clip, sound: mixSounds(seconds, [...own, { sound, from: 0 }]) };
}
