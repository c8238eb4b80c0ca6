/**
 * Renders the six video modes from nothing but their inputs: the still image, one image after the other, or
 * the given video. It invents no scenes and moves no lips.
 */
import type { MediaFile, VideoMode, VideoOrder } from "../../../port.ts";
import { type Clip, FRAME_RATE } from "./clip.ts";
import type { Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { openMedia } from "./open-media.ts";
import { coverFrame, readImage } from "./read-image.ts";
import { readFrames, readInfo } from "./read-video.ts";
import { createTone, indexAt, mixSounds, readSound } from "./sound.ts";
import { UnusableInput } from "./unusable-input.ts";

/** 8 s and a tolerance, because the length that a container states is not exact to the frame. */
const MAX_EXTENDED_SECONDS = 8.5;
const MAX_AUDIO_SECONDS = 60;

export const modes: Readonly<Record<VideoMode, (order: VideoOrder) => Promise<Clip>>> = {
  prompt: showImage,
  animate: showImage,
  reference: showImage,
  extend,
  "first-last": showBoth,
  lipsync,
};

async function showImage(order: VideoOrder): Promise<Clip> {
  const image = await readImage(given(order.image).path, "image_url");
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = hold(await coverFrame(image, size), length);
  return { ...size, length, frames, sound: generatedSound(order) };
}

async function* hold(picture: Frame, length: number): AsyncGenerator<Frame> {
  for (let at = 0; at < length; at++) yield picture;
}

async function showBoth(order: VideoOrder): Promise<Clip> {
  const first = await readImage(given(order.image).path, "image_url");
  const last = await readImage(given(order.endImage).path, "end_image_url");
  const size = frameSize(order.aspectRatio, order.resolution, first);
  const [from, to] = [await coverFrame(first, size), await coverFrame(last, size)];
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = (async function* () {
    for (let at = 0; at < length; at++) yield at < length / 2 ? from : to;
  })();
  return { ...size, length, frames, sound: generatedSound(order) };
}

/** Renders the frames of the video, and holds the last one. */
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
    if (last) yield* hold(last, added);
  })();
  const seam = count / FRAME_RATE;
  const own = audio && (await readSound(audio, "video_url cannot be read as audio", 0, seam));
  const tone = generatedSound(order);
  const parts = [
    // Cut at the seam, where the tone starts.
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
  const length = Math.max(1, Math.round(seconds * FRAME_RATE));
  return { ...size, length, frames: hold(await coverFrame(image, size), length), sound };
}

const generatedSound = ({ generateAudio, seconds }: VideoOrder): Float32Array | null =>
  generateAudio ? createTone(seconds) : null;

/** The use case has checked that the inputs of the mode are there. */
function given(file: MediaFile | undefined): MediaFile {
  if (!file) throw new Error("The order lacks an input of its mode");
  return file;
}
