/**
 * `lipsync`: the picture speaks. Its mouth, where a face is found, opens as loud as the voice in the
 * audio is; the head nods with it. A picture without a face moves as a whole. The audio is the sound.
 */
import type { VideoOrder } from "../../../port.ts";
import { roomy } from "./animate.ts";
import { lookAt } from "./camera.ts";
import type { Clip } from "./clip.ts";
import { drawOver } from "./draw.ts";
import { type Face, findFace } from "./find-face.ts";
import { createFrame, type Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { gradeWith, lookOf } from "./grade.ts";
import { loudnessOf } from "./loudness.ts";
import { openMedia } from "./open-media.ts";
import { coverFrame, type Image } from "./read-image.ts";
import { readSound } from "./read-sound.ts";
import { UnusableInput } from "./unusable-input.ts";
import { FRAME_RATE, SAMPLE_RATE } from "./write-video.ts";

/** As the hosted models have it. */
const MAX_SECONDS = 60;

export async function lipsync(order: VideoOrder, image: Image, audioPath: string): Promise<Clip> {
  const media = await openMedia(audioPath, "audio_url");
  if (!media.audio) throw new UnusableInput("audio_url cannot be read as audio");
  const tooLong = new UnusableInput(`audio_url must be at most ${MAX_SECONDS} seconds`);
  if (media.seconds > MAX_SECONDS) throw tooLong;
  const sound = await readSound(media.audio, "audio_url", MAX_SECONDS);
  if (sound.left.length > MAX_SECONDS * SAMPLE_RATE) throw tooLong;
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const grade = gradeWith(lookOf(order.mood));
  const picture = await coverFrame(image, roomy(size.width), roomy(size.height), grade);
  return { ...size, sound, frames: speak(picture, size, loudnessOf(sound)) };
}

function* speak(
  picture: Frame,
  { width, height }: { readonly width: number; readonly height: number },
  loudness: Float32Array,
): Iterable<Frame> {
  const frame = createFrame(width, height);
  const face = findFace(picture);
  const speaking = createFrame(picture.width, picture.height);
  let nod = 0;
  for (const [index, loud] of loudness.entries()) {
    nod += (loud - nod) * 0.2;
    const seconds = index / FRAME_RATE;
    const pose = {
      zoom: 1.05 + (face ? 0.012 : 0.05) * nod,
      x: 0.25 * Math.sin(seconds * 0.9),
      y: 0.2 * Math.sin(seconds * 1.3) + 0.5 * nod,
      roll: 0.008 * Math.sin(seconds * 1.7) * (0.4 + nod),
    };
    speaking.data.set(picture.data);
    if (face) openMouth(speaking, picture, face, loud);
    drawOver(frame, speaking, lookAt(frame, speaking, pose));
    yield frame;
  }
}

/** How far up, down and to the sides the lips take the skin with them, of the face's height and width. */
const NOSE = 0.12;
const CHIN = 0.26;
const CHEEK = 0.45;
/** How wide the mouth is, and how far its loudest moment opens it: mostly downwards. */
const HALF_WIDTH = 0.19;
const LIFT = 0.025;
const DROP = 0.075;
/** Pixels of the soft edge between the lips and what is behind them, at any size of 720. */
const EDGE = 3 / 720;

function openMouth(target: Frame, source: Frame, face: Face, loud: number): void {
  const { width, height } = source;
  movePlane(target.y, source.y, width, height, face, loud, 38);
  movePlane(target.u, source.u, width / 2, height / 2, face, loud, 124);
  movePlane(target.v, source.v, width / 2, height / 2, face, loud, 142);
}

/** @param inside the value of what is seen between the lips */
function movePlane(
  target: Uint8Array,
  source: Uint8Array,
  width: number,
  height: number,
  face: Face,
  loud: number,
  inside: number,
): void {
  const middle = (face.x + face.width / 2) * width;
  const lips = face.lips * height;
  const size = face.height * height;
  const reach = face.width * width;
  const edge = Math.max(1, EDGE * height);
  const [top, bottom] = [
    Math.max(1, Math.ceil(lips - NOSE * size)),
    Math.min(height - 2, Math.floor(lips + CHIN * size)),
  ];
  const [left, right] = [
    Math.max(0, Math.ceil(middle - CHEEK * reach)),
    Math.min(width - 1, Math.floor(middle + CHEEK * reach)),
  ];
  for (let column = left; column <= right; column++) {
    const aside = Math.abs(column - middle) / reach;
    // The lips part between the corners of the mouth; the jaw moves beyond them.
    const parted = loud * Math.max(0, 1 - (aside / HALF_WIDTH) ** 2);
    const moved = loud * Math.cos((aside / CHEEK) * (Math.PI / 2)) ** 2;
    const [lifted, dropped] = [LIFT * size * parted, DROP * size * parted];
    const jaw = Math.max(dropped, DROP * size * moved);
    for (let row = top; row <= bottom; row++) {
      const away = row - lips;
      const place =
        away < 0
          ? lips - stretch(-away, lifted, NOSE * size)
          : lips + stretch(away, jaw, CHIN * size);
      const from = Math.floor(place);
      const above = source[from * width + column] ?? 0;
      const below = source[(from + 1) * width + column] ?? 0;
      const skin = above + (below - above) * (place - from);
      const depth = Math.min(away + lifted, dropped - away);
      const open = parted > 0.05 ? Math.min(1, Math.max(0, depth / edge + 0.5)) : 0;
      target[row * width + column] = Math.round(skin + (inside - skin) * open);
    }
  }
}

/** Where what is seen so far from the lips was before they moved; at the end of the reach nothing moves. */
const stretch = (distance: number, moved: number, reach: number): number =>
  Math.max(0, ((distance - moved) * reach) / (reach - moved));
