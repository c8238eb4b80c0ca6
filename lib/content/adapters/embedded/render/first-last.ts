/**
 * `first-last`: exactly the one image at the beginning, exactly the other at the end, and between
 * them one camera through both, while the second appears where a soft edge has passed.
 */
import type { VideoOrder } from "../../../port.ts";
import { roomy, soundOf } from "./animate.ts";
import { ease, lookAt, type Pose } from "./camera.ts";
import type { Clip } from "./clip.ts";
import { drawOver } from "./draw.ts";
import { createFrame, type Frame } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { createRandom, type Random } from "./random.ts";
import { coverFrame, type Image } from "./read-image.ts";
import { FRAME_RATE } from "./write-video.ts";

/** When the pictures begin and end to change places. */
const CHANGE_FROM = 0.2;
const CHANGE_TO = 0.8;
/** How wide the soft edge is, in shares of its way. */
const EDGE = 0.55;

export async function firstLast(order: VideoOrder, first: Image, last: Image): Promise<Clip> {
  const size = frameSize(order.aspectRatio, order.resolution, first);
  const room = [roomy(size.width), roomy(size.height)] as const;
  const pictures = [await coverFrame(first, ...room), await coverFrame(last, ...room)] as const;
  const random = createRandom(order.seed, "first-last");
  const count = Math.round(order.seconds * FRAME_RATE);
  return {
    ...size,
    frames: change(pictures, size, random, count),
    sound: soundOf(order, order.seconds),
  };
}

function* change(
  [first, last]: readonly [Frame, Frame],
  { width, height }: { readonly width: number; readonly height: number },
  random: Random,
  count: number,
): Iterable<Frame> {
  const under = createFrame(width, height);
  const over = createFrame(width, height);
  const side = random() < 0.5 ? -1 : 1;
  const when = chooseOrder(random);
  const order = mapOrder(width, height, when);
  const chromaOrder = mapOrder(width / 2, height / 2, when);
  for (let index = 0; index < count; index++) {
    const progress = index / (count - 1);
    drawOver(under, first, lookAt(under, first, leaving(progress, side)));
    drawOver(over, last, lookAt(over, last, leaving(1 - progress, -side)));
    const change = (progress - CHANGE_FROM) / (CHANGE_TO - CHANGE_FROM);
    const share = ease(Math.min(1, Math.max(0, change))) * (1 + EDGE);
    const weights = weightsAt(share);
    mix(under.y, over.y, order, weights);
    mix(under.u, over.u, chromaOrder, weights);
    mix(under.v, over.v, chromaOrder, weights);
    yield under;
  }
}

/** How the camera leaves the first picture, and, backwards, how it comes to rest on the last. */
const leaving = (progress: number, side: number): Pose => ({
  zoom: 1 + 0.22 * ease(progress),
  x: side * ease(progress),
  y: 0,
  roll: 0,
});

/** When the edge passes a place, 0 to 1, by its coordinates from -1 to 1. */
type Order = (x: number, y: number) => number;

/** From one side to the other at any angle, or from the middle outwards; never quite straight. */
function chooseOrder(random: Random): Order {
  const phase = random() * 6.28;
  const wave = (x: number, y: number) => 0.06 * Math.sin(3 * x + phase) * Math.cos(2.3 * y - phase);
  if (random() < 0.35) return (x, y) => Math.hypot(x, y) / 1.6 + wave(x, y);
  const angle = random() * 6.28;
  const [across, down] = [Math.cos(angle), Math.sin(angle)];
  const reach = 2 * (Math.abs(across) + Math.abs(down));
  return (x, y) => 0.5 + (x * across + y * down) / reach + wave(x, y);
}

function mapOrder(width: number, height: number, order: Order): Uint8Array {
  const map = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const moment = order((2 * column) / width - 1, (2 * row) / height - 1);
      map[row * width + column] = Math.round(255 * Math.min(1, Math.max(0, moment)));
    }
  }
  return map;
}

/** For each of the 256 moments, how much of the second picture is there: 0 to 256. */
function weightsAt(share: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, moment) => {
    const passed = (share - moment / 255) / EDGE;
    return Math.round(256 * ease(Math.min(1, Math.max(0, passed))));
  });
}

function mix(under: Uint8Array, over: Uint8Array, order: Uint8Array, weights: Uint16Array): void {
  for (let at = 0; at < under.length; at++) {
    const weight = weights[order[at] as number] as number;
    const below = under[at] as number;
    under[at] = below + ((((over[at] as number) - below) * weight) >> 8);
  }
}
