/**
 * `lipsync`: the picture speaks. Its mouth, where a face is found, opens as loud as the voice in the
 * audio is; the head nods with it. A picture without a face moves as a whole. The audio is the sound.
 */
import type { VideoOrder } from "../../provider.ts";
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

/** How far down and to the sides the lips take the skin with them, of the face's height and width. */
const CHIN = 0.3;
const HALF_WIDTH = 0.26;
/** How wide open the loudest moment is, of the face's height. */
const WIDEST = 0.1;

function openMouth(target: Frame, source: Frame, face: Face, loud: number): void {
  const { width, height } = source;
  movePlane(target.y, source.y, width, height, face, loud, 26);
  movePlane(target.u, source.u, width / 2, height / 2, face, loud, 122);
  movePlane(target.v, source.v, width / 2, height / 2, face, loud, 146);
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
  const depth = face.height * CHIN * height;
  const reach = face.width * HALF_WIDTH * width;
  const gap = face.height * WIDEST * height * loud;
  const last = Math.min(height - 2, Math.floor(lips + depth));
  for (let column = Math.max(0, Math.ceil(middle - 1.8 * reach)); column < width; column++) {
    const aside = Math.abs(column - middle) / reach;
    if (aside >= 1.8 && column > middle) break;
    // The lips part between the corners of the mouth; the jaw moves beyond them.
    const parted = gap * Math.sqrt(Math.max(0, 1 - aside * aside));
    const moved = gap * Math.cos((Math.min(1.8, aside) / 1.8) * (Math.PI / 2)) ** 2;
    for (let row = Math.ceil(lips); row <= last; row++) {
      const below = row - lips;
      const at = row * width + column;
      const lowered = Math.max(parted, moved);
      const place = lips + Math.max(0, (below - lowered) * (depth / (depth - lowered)));
      const from = Math.floor(place);
      const share = place - from;
      const above = source[from * width + column] ?? 0;
      const skin = above + ((source[(from + 1) * width + column] ?? 0) - above) * share;
      // A pixel or two of soft edge between the lip and what is behind it.
      const open = Math.min(1, Math.max(0, (parted - below) / 2 + 0.5));
      target[at] = Math.round(skin + (inside - skin) * (parted > 0.5 ? open : 0));
    }
  }
}
