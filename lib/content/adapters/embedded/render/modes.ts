/**
 * Renders the six video modes from nothing but their inputs: a slow camera move over the image, a
 * crossfade, or the given video. It invents no scenes and moves no lips.
 */
import type { MediaFile, VideoMode, VideoOrder } from "../../../port.ts";
import { type Clip, FRAME_RATE, SAMPLE_RATE, type Sound } from "./clip.ts";
import { drawView, type View, zoomView } from "./draw-view.ts";
import { createFrame, type Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { openMedia } from "./open-media.ts";
import { coverFrame, readImage } from "./read-image.ts";
import { readFrames, readInfo } from "./read-video.ts";
import { createTone, loudnessOf, mixSounds, readSound } from "./sound.ts";
import { UnusableInput } from "./unusable-input.ts";

/** 8 s and a tolerance, because the length that a container states is not exact to the frame. */
const MAX_EXTENDED_SECONDS = 8.5;
const MAX_AUDIO_SECONDS = 60;
const ZOOM = 0.12;

type Camera = (progress: number) => View;

export const modes: Readonly<Record<VideoMode, (order: VideoOrder) => Promise<Clip>>> = {
  prompt: (order) => moveOver(order, zoomIn(order)),
  animate: (order) => moveOver(order, zoomIn(order)),
  // The image is not a frame of the video: the camera pans over an enlarged part.
  reference: (order) => moveOver(order, (progress) => zoomView(1.5, 0.2 + 0.6 * progress)),
  extend,
  "first-last": crossfade,
  lipsync,
};

/** Zooms from the whole picture to its middle or, depending on the seed, slightly to one side. */
const zoomIn = ({ seed }: Pick<VideoOrder, "seed">): Camera => {
  const centre = 0.25 + (seed % 3) * 0.25;
  return (progress) => zoomView(1 + ZOOM * progress, centre);
};

async function moveOver(order: VideoOrder, camera: Camera): Promise<Clip> {
  const image = await readImage(given(order.image).path, "image_url");
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = film(await coverFrame(image, size), length, camera);
  return { ...size, length, frames, sound: generatedSound(order, order.seconds) };
}

function* film(picture: Frame, length: number, camera: Camera): Generator<Frame> {
  const frame = createFrame(picture);
  for (let at = 0; at < length; at++) {
    drawView(frame, picture, camera(at / Math.max(1, length - 1)));
    yield frame;
  }
}

/** Starts with exactly the first image and ends with exactly the last one. */
async function crossfade(order: VideoOrder): Promise<Clip> {
  const first = await readImage(given(order.image).path, "image_url");
  const last = await readImage(given(order.endImage).path, "end_image_url");
  const size = frameSize(order.aspectRatio, order.resolution, first);
  const [from, to] = [await coverFrame(first, size), await coverFrame(last, size)];
  const length = Math.round(order.seconds * FRAME_RATE);
  const frames = (function* () {
    const frame = createFrame(size);
    for (let at = 0; at < length; at++) {
      const weight = Math.round((256 * at) / Math.max(1, length - 1));
      for (let sample = 0; sample < frame.data.length; sample++) {
        const [a, b] = [from.data[sample] as number, to.data[sample] as number];
        frame.data[sample] = a + (((b - a) * weight) >> 8);
      }
      yield frame;
    }
  })();
  return { ...size, length, frames, sound: generatedSound(order, order.seconds) };
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
  const frame = createFrame(size);
  const frames = (async function* () {
    yield* readFrames(video, frame, count, message);
    const last = createFrame(size);
    last.data.set(frame.data);
    yield* film(last, added, (progress) => zoomView(1 + ZOOM * progress));
  })();
  const seam = count / FRAME_RATE;
  const own = audio && (await readSound(audio, "video_url cannot be read as audio", 0, seam));
  const tone = generatedSound(order, order.seconds);
  const parts = [
    ...(own ? [{ sound: own, from: 0 }] : []),
    ...(tone ? [{ sound: tone, from: seam }] : []),
  ];
  const sound = parts.length > 0 ? mixSounds(seam + order.seconds, parts) : null;
  return { ...size, length: count + added, frames, sound };
}

/** Renders a video as long as its audio. The picture zooms in slightly where the audio is loud. */
async function lipsync(order: VideoOrder): Promise<Clip> {
  const message = "audio_url cannot be read as audio";
  const { audio } = await openMedia(given(order.audio).path, "audio_url");
  if (!audio) throw new UnusableInput(message, "no audio track");
  const sound = await readSound(audio, message, 0, MAX_AUDIO_SECONDS + 1);
  if (sound.left.length > MAX_AUDIO_SECONDS * SAMPLE_RATE) {
    throw new UnusableInput(`audio_url must be at most ${MAX_AUDIO_SECONDS} seconds`);
  }
  const image = await readImage(given(order.image).path, "image_url");
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const levels = loudnessOf(sound, FRAME_RATE);
  let held = 0;
  const camera: Camera = (progress) => {
    const level = levels[Math.round(progress * (levels.length - 1))] ?? 0;
    held += (level - held) * 0.3;
    return zoomView(1 + 0.04 * held);
  };
  const frames = film(await coverFrame(image, size), levels.length, camera);
  return { ...size, length: levels.length, frames, sound };
}

function generatedSound({ generateAudio }: VideoOrder, seconds: number): Sound | null {
  return generateAudio ? createTone(seconds) : null;
}

/** The use case has checked that the inputs of the mode are there. */
function given(file: MediaFile | undefined): MediaFile {
  if (!file) throw new Error("The order lacks an input of its mode");
  return file;
}
