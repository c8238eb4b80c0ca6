/** `animate` and `prompt`: the image itself, through a camera that moves as the words say. */

import type { VideoOrder } from "../../../port.ts";
import { type CameraPath, chooseCamera, lookAt } from "./camera.ts";
import type { Clip } from "./clip.ts";
import { composeSound } from "./compose-sound.ts";
import { drawOver } from "./draw.ts";
import { createFrame, type Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { createVignette, gradeWith, type Look, lookOf } from "./grade.ts";
import { createRandom } from "./random.ts";
import { coverFrame, type Image } from "./read-image.ts";
import { FRAME_RATE } from "./write-video.ts";

/** How much larger than the clip the picture is kept, so that the camera can come close. */
export const ROOM = 1.25;

export async function animate(order: VideoOrder, image: Image): Promise<Clip> {
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const look = lookOf(order.mood ?? order.prompt);
  const picture = await coverFrame(image, roomy(size.width), roomy(size.height), gradeWith(look));
  const path = chooseCamera(order, createRandom(order.seed, "camera"));
  return {
    ...size,
    frames: film(picture, size, path, look, Math.round(order.seconds * FRAME_RATE)),
    sound: soundOf(order, order.seconds),
  };
}

export function* film(
  picture: Frame,
  size: { readonly width: number; readonly height: number },
  path: CameraPath,
  look: Look,
  count: number,
): Iterable<Frame> {
  const frame = createFrame(size.width, size.height);
  const darken = createVignette(size.width, size.height, look.vignette);
  for (let index = 0; index < count; index++) {
    drawOver(frame, picture, lookAt(frame, picture, path(index / (count - 1))));
    darken(frame);
    yield frame;
  }
}

export const roomy = (length: number) => Math.round((length * ROOM) / 2) * 2;

/** What the order says about sound: one in the mood, or none. */
export function soundOf(order: VideoOrder, seconds: number) {
  if (!order.generateAudio) return null;
  const words = `${order.mood ?? ""} ${order.movement ?? ""} ${order.prompt}`;
  return composeSound(words, order.seed, seconds);
}
