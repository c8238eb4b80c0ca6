/** Applies the steps of an edit to a clip in order; each step edits the result of the previous one. */
import sharp from "sharp";
import type { EditStep } from "../../../port.ts";
import { type Clip, FRAME_RATE, mapFrames } from "./clip.ts";
import { drawText } from "./draw-text.ts";
import { blend, editFrame, frameFromRgb, type Size } from "./frame.ts";
import { openMedia } from "./open-media.ts";
import { indexAt, mixSounds, readSound } from "./sound.ts";
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
  const end = first + Math.max(1, Math.min(clip.length - first, wanted));
  const frames = (async function* () {
    let at = 0;
    for await (const frame of clip.frames) {
      if (at >= first) yield frame;
      at += 1;
      if (at >= end) return;
    }
  })();
  const sound = clip.sound?.slice(indexAt(first / FRAME_RATE), indexAt(end / FRAME_RATE)) ?? null;
  return { ...clip, length: end - first, frames, sound };
}

/** Crops the centre to the aspect ratio and scales it to the size. */
function reframe(clip: Clip, step: Step<"frame">): Clip {
  const size = sizeOf(clip, step);
  return mapFrames(clip, size, (frame) =>
    editFrame(frame, size, (plane, to) => plane.resize(to.width, to.height, { fit: "cover" })),
  );
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
  const { width, height } = clip;
  const style = {
    font: step.font,
    color: step.color ?? "#ffffff",
    strokeColor: step.strokeColor,
    fontSize: step.maxFontSize ?? Math.min(width, height) * DEFAULT_FONT_SIZE,
  };
  const box = {
    width: width * TEXT_BOX.width,
    height: height * TEXT_BOX.height,
    middle: height * TEXT_BOX.middle,
  };
  const rgba = await drawText(step.content, style, box, clip);
  if (!rgba) return clip;
  const image = sharp(rgba, { raw: { width, height, channels: 4 } });
  const text = await frameFromRgb(await image.clone().removeAlpha().raw().toBuffer(), clip);
  const alpha = image.extractChannel("alpha").raw();
  const chroma = await alpha
    .clone()
    .resize(width / 2, height / 2, { fit: "fill" })
    .toBuffer();
  const opacity = Buffer.concat([await alpha.toBuffer(), chroma, chroma]);
  const first = Math.round(step.start * FRAME_RATE);
  const end = step.seconds === undefined ? clip.length : first + step.seconds * FRAME_RATE;
  return mapFrames(clip, clip, (frame, at) =>
    at >= first && at < end ? blend(frame, text, opacity) : frame,
  );
}

async function addAudio(clip: Clip, step: Step<"audio">): Promise<Clip> {
  const message = "audio_url of the template cannot be read as audio";
  const { audio } = await openMedia(step.audio.path, "audio_url of the template");
  if (!audio) throw new UnusableInput(message, "no audio track");
  const seconds = clip.length / FRAME_RATE;
  const wanted = Math.min(step.seconds ?? seconds, seconds);
  const sound = await readSound(audio, message, step.start, wanted);
  const own = clip.sound && !step.replace ? [{ sound: clip.sound, from: 0 }] : [];
  const added = { sound: sound.subarray(0, indexAt(wanted)), from: 0 };
  return { ...clip, sound: mixSounds(seconds, [...own, added]) };
}
