/**
 * Renders the six video modes from nothing but their inputs: a slow zoom into the image, a crossfade, or
 * the given video. It invents no scenes and moves no lips.
 */
import type { MediaFile, VideoMode, VideoOrder } from "../../../port.ts";
import { type Clip, FRAME_RATE } from "./clip.ts";
import { blend, type Frame, zoomFrame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { openMedia } from "./open-media.ts";
import { coverFrame, readImage } from "./read-image.ts";
import { readFrames, readInfo } from "./read-video.ts";
import { createTone, indexAt, mixSounds, readSound } from "./sound.ts";
import { UnusableInput } from "./unusable-input.ts";

/** 8 s and a tolerance, because the length that a container states is not exact to the frame. */
const MAX_EXTENDED_SECONDS = 8.5;
const MAX_AUDIO_SECONDS = 60;
const ZOOM = 0.12;

export const modes: Readonly<Record<VideoMode, (order: VideoOrder) => Promise<Clip>>> = {
  prompt: zoomInto,
  animate: zoomInto,
  // The image is not a frame of the video: only its middle is shown.
  reference: (order) => zoomInto(order, 1.5),
  extend,
  "first-last": crossfade,
  lipsync,
};

/** @param start how many times the middle of the image is enlarged at first */
async function zoomInto(order: VideoOrder, start = 1): Promise<Clip> {
  const image = await readImage(given(order.image).path, "image_url");
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = zoomIn(await coverFrame(image, size, start), length);
  return { ...size, length, frames, sound: generatedSound(order) };
}

async function* zoomIn(picture: Frame, length: number): AsyncGenerator<Frame> {
  for (let at = 0; at < length; at++) {
    yield zoomFrame(picture, 1 + (ZOOM * at) / Math.max(1, length - 1));
  }
}

/** Starts with exactly the first image and ends with exactly the last one. */
async function crossfade(order: VideoOrder): Promise<Clip> {
  const first = await readImage(given(order.image).path, "image_url");
  const last = await readImage(given(order.endImage).path, "end_image_url");
  const size = frameSize(order.aspectRatio, order.resolution, first);
  const [from, to] = [await coverFrame(first, size), await coverFrame(last, size)];
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = (async function* () {
    for (let at = 0; at < length; at++) {
      yield blend(from, to, Math.round((256 * at) / Math.max(1, length - 1)));
    }
  })();
  return { ...size, length, frames, sound: generatedSound(order) };
}

/** Renders the frames of the video, then a slow zoom from the last frame. */
async function extend(order: VideoOrder): Promise<Clip> {
  const message = "video_url cannot be read as a video";
  const { video, audio } = await openMedia(given(order.video).path, "video_url");
  if (!video) throw new UnusableInput(message, "no video track");
  const info = await readInfo(video, message);
  if (info.seconds > MAX_EXTENDED_SECONDS) {
    throw new UnusableInput("video_url must be at most 8 seconds");
  }
  const size = frameSize(order.aspectRatio, order.resolution, info);
  const count = Math.max(1, Math.round(info.seconds * FRAME_RATE));
  const added = Math.round(order.seconds * FRAME_RATE);
  const frames = (async function* () {
    let last: Frame | undefined;
    for await (const frame of readFrames(video, size, count, message)) {
      last = frame;
      yield frame;
    }
    if (last) yield* zoomIn(last, added);
  })();
  const seam = count / FRAME_RATE;
  const own = audio && (await readSound(audio, "video_url cannot be read as audio", 0, seam));
  const tone = generatedSound(order);
  const parts = [
    // Cut at the seam, where the tone begins.
    ...(own ? [{ sound: own.subarray(0, indexAt(seam)), from: 0 }] : []),
    ...(tone ? [{ sound: tone, from: seam }] : []),
  ];
  const sound = parts.length > 0 ? mixSounds(seam + order.seconds, parts) : null;
  return { ...size, length: count + added, frames, sound };
}

/** Renders the image with the audio, as long as the audio. */
async function lipsync(order: VideoOrder): Promise<Clip> {
  const message = "audio_url cannot be read as audio";
  const { audio } = await openMedia(given(order.audio).path, "audio_url");
  if (!audio) throw new UnusableInput(message, "no audio track");
  const sound = await readSound(audio, message, 0, MAX_AUDIO_SECONDS + 1);
  const seconds = sound.length / indexAt(1);
  if (seconds > MAX_AUDIO_SECONDS) {
    throw new UnusableInput(`audio_url must be at most ${MAX_AUDIO_SECONDS} seconds`);
  }
  const image = await readImage(given(order.image).path, "image_url");
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const picture = await coverFrame(image, size);
  const length = Math.max(1, Math.round(seconds * FRAME_RATE));
  const frames = (async function* () {
    for (let at = 0; at < length; at++) yield picture;
  })();
  return { ...size, length, frames, sound };
}

const generatedSound = ({ generateAudio, seconds }: VideoOrder): Float32Array | null =>
  generateAudio ? createTone(seconds) : null;

/** The use case has checked that the inputs of the mode are there. */
function given(file: MediaFile | undefined): MediaFile {
  if (!file) throw new Error("The order lacks an input of its mode");
  return file;
}
