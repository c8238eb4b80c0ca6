/** The sampler of every camera move, crop and scale. */
import { createFrame, type Frame, type Plane, planesOf, type Size } from "./frame.ts";

/** A part of a picture, in fractions of its width and height. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the largest centred part that has the aspect ratio of the target. */
export function coverView(source: Size, target: Size): View {
  const ratio = source.width / source.height / (target.width / target.height);
  const [width, height] = ratio > 1 ? [1 / ratio, 1] : [1, ratio];
  return { x: (1 - width) / 2, y: (1 - height) / 2, width, height };
}

/**
 * Returns a part with the source's aspect ratio.
 *
 * @param centre its horizontal position, 0 (left) to 1 (right)
 */
export function zoomView(zoom: number, centre = 0.5): View {
  const side = 1 / zoom;
  return { x: (1 - side) * centre, y: (1 - side) / 2, width: side, height: side };
}

/** Fills the target with the part of the source by bilinear sampling. */
export function drawView(target: Frame, source: Frame, view: View): void {
  const isCopy = view.width === 1 && view.height === 1 && target.width === source.width;
  if (isCopy && target.height === source.height) {
    target.data.set(source.data);
    return;
  }
  const shrinks = view.width * source.width >= 2 * target.width;
  if (shrinks && source.width >= 4 && source.height >= 4) {
    drawView(target, halve(source), view);
    return;
  }
  const [to, from] = [planesOf(target), planesOf(source)];
  for (const at of [0, 1, 2] as const) drawPlane(to[at], from[at], view);
}

/** Returns, along one axis, the sample before each pixel and the weight of the next one, in 256ths. */
function positions(length: number, sourceLength: number, start: number, share: number) {
  const before = new Int32Array(length);
  const weight = new Int32Array(length);
  for (let at = 0; at < length; at++) {
    const place = (start + ((at + 0.5) / length) * share) * sourceLength - 0.5;
    const inside = Math.min(sourceLength - 1, Math.max(0, place));
    before[at] = Math.min(Math.floor(inside), Math.max(0, sourceLength - 2));
    weight[at] = Math.round((inside - (before[at] as number)) * 256);
  }
  return { before, weight };
}

function drawPlane(to: Plane, from: Plane, view: View): void {
  const columns = positions(to.width, from.width, view.x, view.width);
  const rows = positions(to.height, from.height, view.y, view.height);
  const { samples } = from;
  let at = 0;
  for (let row = 0; row < to.height; row++) {
    const above = (rows.before[row] as number) * from.width;
    const below = from.height > 1 ? above + from.width : above;
    const down = rows.weight[row] as number;
    for (let column = 0; column < to.width; column++) {
      const left = columns.before[column] as number;
      const right = columns.weight[column] as number;
      const a = samples[above + left] as number;
      const b = samples[above + left + 1] as number;
      const c = samples[below + left] as number;
      const d = samples[below + left + 1] as number;
      const upper = (a << 8) + (b - a) * right;
      const lower = (c << 8) + (d - c) * right;
      to.samples[at++] = ((upper << 8) + (lower - upper) * down + 32768) >> 16;
    }
  }
}

/**
 * Halves the size by averaging four pixels, because sampling a much larger picture would skip
 * pixels.
 */
function halve(frame: Frame): Frame {
  const half = createFrame({ width: (frame.width >> 2) * 2, height: (frame.height >> 2) * 2 });
  const [to, from] = [planesOf(half), planesOf(frame)];
  for (const plane of [0, 1, 2] as const) {
    const { samples, width } = from[plane];
    for (let row = 0, at = 0; row < to[plane].height; row++) {
      for (let column = 0; column < to[plane].width; column++, at++) {
        const corner = 2 * row * width + 2 * column;
        const above = (samples[corner] as number) + (samples[corner + 1] as number);
        const below = (samples[corner + width] as number) + (samples[corner + width + 1] as number);
        to[plane].samples[at] = (above + below + 2) >> 2;
      }
    }
  }
  return half;
}
