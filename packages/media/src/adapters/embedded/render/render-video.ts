/**
 * The two jobs that write a video. An order is rendered from nothing but its inputs: the still image, one image
 * after the other, or the given video. An edit changes a video that was generated before.
 */
import type { EditStep, MediaFile, VideoOrder } from "../../../port.ts";
import {
  type Clip,
  editPicture,
  FRAME_RATE,
  indexAt,
  openMedia,
  type Picture,
  readClip,
  readSound,
  toPicture,
  writeClip,
} from "./clip.ts";
import { drawText, even, pictureSize, readImage, type Size, UnusableInput } from "./pictures.ts";

/** 8 s and a tolerance, because the length that a container states is not exact to the frame. */
const MAX_EXTENDED_SECONDS = 8.5;
const MAX_AUDIO_SECONDS = 60;
/** Bounds the memory of a video's sound. */
const MAX_EDITED_SECONDS = 120;
const TONE_HERTZ = 220;
const TONE_VOLUME = 0.05;
/** The box of a text and the position of its middle, in fractions of the frame's width and height. */
const TEXT_BOX = { width: 0.86, height: 0.4, middle: 0.76 } as const;
const DEFAULT_FONT_SIZE = 1 / 16;

/** @throws UnusableInput */
export async function renderVideo(order: VideoOrder, path: string): Promise<void> {
  await writeClip(order.mode === "extend" ? await extend(order) : await showImages(order), path);
}

/** Shows the image, and then the last image where the mode has one; for `lipsync` as long as its audio. */
async function showImages(order: VideoOrder): Promise<Clip> {
  const image = await readImage(given(order.image).path, "image_url");
  const size = pictureSize(order, image);
  const first = await toPicture(image.cover(size));
  const isPair = order.mode === "first-last";
  const end = isPair && (await readImage(given(order.endImage).path, "end_image_url"));
  const last = end ? await toPicture(end.cover(size)) : first;
  const speech = order.mode === "lipsync" ? await readSpeech(given(order.audio)) : null;
  const seconds = speech ? speech.length / indexAt(1) : order.seconds;
  const length = Math.max(1, Math.round(seconds * FRAME_RATE));
  const frames = (async function* () {
    for (let at = 0; at < length; at++) yield at < length / 2 ? first : last;
  })();
  return { ...size, length, frames, sound: speech ?? toneOf(order) };
}

async function readSpeech({ path }: MediaFile): Promise<Float32Array> {
  const message = "audio_url cannot be read as audio";
  const { audio } = await openMedia(path, "audio_url");
  if (!audio) throw new UnusableInput(message, "no audio track");
  const sound = await readSound(audio, message, 0, MAX_AUDIO_SECONDS + 1);
  if (sound.length > indexAt(MAX_AUDIO_SECONDS)) {
    throw new UnusableInput(`audio_url must be at most ${MAX_AUDIO_SECONDS} seconds`);
  }
  return sound;
}

/** Shows the frames of the video, and holds the last one. */
async function extend(order: VideoOrder): Promise<Clip> {
  const clip = await readClip(given(order.video).path, "video_url", MAX_EXTENDED_SECONDS);
  const size = pictureSize(order, clip);
  const added = Math.round(order.seconds * FRAME_RATE);
  const frames = (async function* () {
    let last: Picture | undefined;
    let source: Picture | undefined;
    for await (const picture of clip.frames) {
      if (picture !== source) last = await cover(picture, size);
      source = picture;
      if (last) yield last;
    }
    for (let at = 0; last && at < added; at++) yield last;
  })();
  const seam = clip.length / FRAME_RATE;
  const tone = toneOf(order);
  const parts = [
    // Cut at the seam, where the tone starts.
    ...(clip.sound ? [{ sound: clip.sound.subarray(0, indexAt(seam)), from: 0 }] : []),
    ...(tone ? [{ sound: tone, from: seam }] : []),
  ];
  const sound = parts.length > 0 ? mixSounds(seam + order.seconds, parts) : null;
  return { ...clip, ...size, length: clip.length + added, frames, sound };
}

/** A quiet, steady tone is the placeholder for generated audio. */
function toneOf({ generateAudio, seconds }: VideoOrder): Float32Array | null {
  if (!generateAudio) return null;
  const turn = (2 * Math.PI * TONE_HERTZ) / indexAt(1);
  return new Float32Array(indexAt(seconds)).map((_, at) => TONE_VOLUME * Math.sin(turn * at));
}

/** Mixes sounds, each from its own second on, and cuts them at the end. */
function mixSounds(
  seconds: number,
  parts: readonly { readonly sound: Float32Array; readonly from: number }[],
): Float32Array {
  const mixed = new Float32Array(indexAt(seconds));
  for (const { sound, from } of parts) {
    const start = indexAt(from);
    for (let at = start; at < Math.min(mixed.length, start + sound.length); at++) {
      const sum = (mixed[at] as number) + (sound[at - start] as number);
      mixed[at] = Math.min(1, Math.max(-1, sum));
    }
  }
  return mixed;
}

/** The use case has checked that the mode's inputs exist. */
function given(file: MediaFile | undefined): MediaFile {
  if (!file) throw new Error("The order lacks an input of its mode");
  return file;
}

/** Applies the steps in order; each step edits the result of the previous one. @throws UnusableInput */
export async function editVideo(
  { path: input }: MediaFile,
  steps: readonly EditStep[],
  path: string,
): Promise<void> {
  const video = await readClip(input, "The video", MAX_EDITED_SECONDS);
  let clip = reframe(video, { width: even(video.width), height: even(video.height) });
  for (const step of steps) {
    if (step.kind === "trim") clip = trim(clip, step);
    else if (step.kind === "frame") clip = reframe(clip, sizeOf(clip, step));
    else if (step.kind === "text") clip = await addText(clip, step);
    else clip = await addAudio(clip, step);
  }
  await writeClip(clip, path);
}

type Step<K extends EditStep["kind"]> = Extract<EditStep, { readonly kind: K }>;

/** @param edit returns null for a frame to leave out */
async function* editFrames(
  { frames }: Clip,
  edit: (frame: Picture, at: number) => Picture | null | Promise<Picture>,
): AsyncGenerator<Picture> {
  let at = 0;
  for await (const frame of frames) {
    const edited = await edit(frame, at++);
    if (edited) yield edited;
  }
}

/** Ignores a start after the end, because a video needs at least one frame. */
function trim(clip: Clip, { start, seconds }: Step<"trim">): Clip {
  const first = Math.round(start * FRAME_RATE);
  if (first >= clip.length) return clip;
  const wanted = seconds === undefined ? clip.length : Math.round(seconds * FRAME_RATE);
  const end = first + Math.max(1, Math.min(clip.length - first, wanted));
  const frames = editFrames(clip, (frame, at) => (at >= first && at < end ? frame : null));
  const sound = clip.sound?.slice(indexAt(first / FRAME_RATE), indexAt(end / FRAME_RATE)) ?? null;
  return { ...clip, length: end - first, frames, sound };
}

function reframe(clip: Clip, size: Size): Clip {
  return { ...clip, ...size, frames: editFrames(clip, (frame) => cover(frame, size)) };
}

/** Crops the centre of a picture to the aspect ratio of the size, and scales it. */
const cover = (picture: Picture, { width, height }: Size): Picture | Promise<Picture> =>
  picture.width === width && picture.height === height
    ? picture
    : editPicture(picture, (image) => image.resize(width, height, { fit: "cover" }));

/**
 * Derives a missing side from the other one and the aspect ratio. Without sides, the frame is only
 * cropped.
 */
function sizeOf({ width, height }: Size, step: Step<"frame">): Size {
  const shape = step.aspect ?? width / height;
  const side = (length: number) => Math.max(16, even(length));
  if (step.width && step.height) return { width: side(step.width), height: side(step.height) };
  if (step.width) return { width: side(step.width), height: side(step.width / shape) };
  if (step.height) return { width: side(step.height * shape), height: side(step.height) };
  const isWide = width / height > shape;
  return isWide ? { width: side(height * shape), height } : { width, height: side(width / shape) };
}

async function addText(clip: Clip, step: Step<"text">): Promise<Clip> {
  const { width, height, length } = clip;
  const text = {
    ...step,
    color: step.color ?? "#ffffff",
    fontSize: step.maxFontSize ?? Math.min(width, height) * DEFAULT_FONT_SIZE,
    box: { width: width * TEXT_BOX.width, height: height * TEXT_BOX.height },
    middle: height * TEXT_BOX.middle,
  };
  const layers = await drawText(text, width);
  const first = Math.round(step.start * FRAME_RATE);
  const end = step.seconds === undefined ? length : first + step.seconds * FRAME_RATE;
  const frames = editFrames(clip, (frame, at) =>
    at >= first && at < end ? editPicture(frame, (image) => image.composite(layers)) : frame,
  );
  return { ...clip, frames };
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
