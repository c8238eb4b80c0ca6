/** `extend`: the video as it is, and after it a camera that goes on from its last picture. */
import type { VideoOrder } from "../../../port.ts";
import { film, roomy, soundOf } from "./animate.ts";
import { between, type CameraPath, chooseCamera, ease, STILL } from "./camera.ts";
import type { Clip } from "./clip.ts";
import { drawOver } from "./draw.ts";
import { createFrame, type Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { lookOf } from "./grade.ts";
import { type Media, openMedia } from "./open-media.ts";
import { createRandom } from "./random.ts";
import { readSound } from "./read-sound.ts";
import { readFrames } from "./read-video.ts";
import { UnusableInput } from "./unusable-input.ts";
import { FRAME_RATE, SAMPLE_RATE, type Sound } from "./write-video.ts";

/** A little over the 8 s of the specification: tracks end where their last piece ends. */
const MAX_SECONDS = 8.5;
const CROSSFADE_SECONDS = 0.5;

export async function extend(order: VideoOrder, path: string): Promise<Clip> {
  const media = await openMedia(path, "video_url");
  const unusable = new UnusableInput("video_url cannot be read as a video");
  const { video } = media;
  if (!video) throw unusable;
  const seconds = (await video.computeDuration()) - (await video.getFirstTimestamp());
  if (seconds > MAX_SECONDS) throw new UnusableInput("video_url must be at most 8 seconds");
  const shape = { width: await video.getDisplayWidth(), height: await video.getDisplayHeight() };
  const size = frameSize(order.aspectRatio, order.resolution, shape);
  const frame = createFrame(size.width, size.height);
  return {
    ...size,
    sound: await joinSound(order, media, Math.round(seconds * FRAME_RATE) / FRAME_RATE),
    frames: (async function* () {
      yield* readFrames(video, frame, unusable);
      yield* goOn(order, frame);
    })(),
  };
}

function goOn(order: VideoOrder, last: Frame): Iterable<Frame> {
  const count = Math.round(order.seconds * FRAME_RATE);
  const chosen = chooseCamera(order, createRandom(order.seed, "camera"));
  // Whatever the move, it begins where the video ended.
  const path: CameraPath = (progress) =>
    between(STILL, chosen(progress), ease(Math.min(1, progress * 3)));
  // Larger than it was, or what is drawn from it would fall between its pixels.
  const picture = createFrame(roomy(last.width), roomy(last.height));
  const [a, e] = [last.width / picture.width, last.height / picture.height];
  drawOver(picture, last, { a, b: 0, c: (a - 1) / 2, d: 0, e, f: (e - 1) / 2 });
  return film(picture, last, path, lookOf(undefined), count);
}

/** The video's own sound stays with it; what follows has one only when it was asked for. */
async function joinSound(order: VideoOrder, media: Media, seconds: number): Promise<Sound | null> {
  const own = media.audio && (await readSound(media.audio, "video_url", seconds));
  const added = soundOf(order, order.seconds + CROSSFADE_SECONDS);
  if (!own && !added) return null;
  const seam = Math.round(seconds * SAMPLE_RATE);
  const fade = Math.round(CROSSFADE_SECONDS * SAMPLE_RATE);
  const length = seam + Math.round(order.seconds * SAMPLE_RATE);
  const joined = { left: new Float32Array(length), right: new Float32Array(length) };
  for (const side of ["left", "right"] as const) {
    for (let at = 0; at < length; at++) {
      const before = (own?.[side][at] ?? 0) * Math.min(1, Math.max(0, (seam - at) / fade));
      // It comes in by itself.
      const after = at < seam - fade ? 0 : (added?.[side][at - seam + fade] ?? 0);
      joined[side][at] = before + after;
    }
  }
  return joined;
}
