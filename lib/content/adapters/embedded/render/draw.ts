/**
 * Drawing one picture into another at any place, size and angle, with bilinear sampling: the inner
 * loops of every mode, in fixed-point numbers because they run for each pixel of each frame.
 */
import type { Frame, Layer } from "./frame.ts";

/** Where in the source a pixel of the target comes from: `x' = a x + b y + c`, `y' = d x + e y + f`. */
export interface Mapping {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** Fills the whole target; what lies outside the source is its nearest edge. */
export function drawOver(target: Frame, source: Frame, mapping: Mapping): void {
  const half = ofChroma(mapping);
  const [width, height] = [target.width / 2, target.height / 2];
  const [sourceWidth, sourceHeight] = [source.width / 2, source.height / 2];
  fill(target.y, target.width, target.height, source.y, source.width, source.height, mapping);
  fill(target.u, width, height, source.u, sourceWidth, sourceHeight, half);
  fill(target.v, width, height, source.v, sourceWidth, sourceHeight, half);
}

/** Lays the layer over the target where it has something. @param opacity 0 to 1 */
export function drawLayer(target: Frame, layer: Layer, mapping: Mapping, opacity = 1): void {
  const half = ofChroma(mapping);
  const strength = Math.round(opacity * 256);
  const chroma = [target.width / 2, target.height / 2] as const;
  const from = [layer.width / 2, layer.height / 2] as const;
  const { alpha, chromaAlpha, width, height } = layer;
  blend(target.y, target.width, target.height, layer.y, alpha, width, height, mapping, strength);
  blend(target.u, ...chroma, layer.u, chromaAlpha, ...from, half, strength);
  blend(target.v, ...chroma, layer.v, chromaAlpha, ...from, half, strength);
}

/** The same mapping between planes of half the size; pixel centres lie at a half. */
function ofChroma({ a, b, c, d, e, f }: Mapping): Mapping {
  return {
    a,
    b,
    c: (c + (a + b) / 2 - 0.5) / 2,
    d,
    e,
    f: (f + (d + e) / 2 - 0.5) / 2,
  };
}

const ONE = 65536;

function fill(
  target: Uint8Array,
  width: number,
  height: number,
  source: Uint8Array,
  sourceWidth: number,
  sourceHeight: number,
  { a, b, c, d, e, f }: Mapping,
): void {
  const stepX = Math.round(a * ONE);
  const stepY = Math.round(d * ONE);
  const lastX = (sourceWidth - 1) * ONE - 1;
  const lastY = (sourceHeight - 1) * ONE - 1;
  let at = 0;
  for (let row = 0; row < height; row++) {
    let x = Math.round((b * row + c) * ONE);
    let y = Math.round((e * row + f) * ONE);
    for (let column = 0; column < width; column++) {
      const inX = Math.max(0, Math.min(x, lastX));
      const inY = Math.max(0, Math.min(y, lastY));
      const from = (inY >> 16) * sourceWidth + (inX >> 16);
      const right = (inX >> 8) & 255;
      const down = (inY >> 8) & 255;
      const p = source[from] as number;
      const q = source[from + sourceWidth] as number;
      const top = (p << 8) + ((source[from + 1] as number) - p) * right;
      const bottom = (q << 8) + ((source[from + sourceWidth + 1] as number) - q) * right;
      target[at++] = ((top << 8) + (bottom - top) * down + 32768) >> 16;
      x += stepX;
      y += stepY;
    }
  }
}

function blend(
  target: Uint8Array,
  width: number,
  height: number,
  source: Uint8Array,
  alpha: Uint8Array,
  sourceWidth: number,
  sourceHeight: number,
  { a, b, c, d, e, f }: Mapping,
  strength: number,
): void {
  const stepX = Math.round(a * ONE);
  const stepY = Math.round(d * ONE);
  for (let row = 0; row < height; row++) {
    const x = b * row + c;
    const y = e * row + f;
    const [fromX, toX] = columnsInside(x, a, sourceWidth - 1, width);
    const [fromY, toY] = columnsInside(y, d, sourceHeight - 1, width);
    const last = Math.min(toX, toY);
    const first = Math.max(fromX, fromY);
    let inX = Math.round((x + a * first) * ONE);
    let inY = Math.round((y + d * first) * ONE);
    let at = row * width + first;
    for (let column = first; column < last; column++, at++, inX += stepX, inY += stepY) {
      const from = (inY >> 16) * sourceWidth + (inX >> 16);
      const below = from + sourceWidth;
      const p = alpha[from] as number;
      const q = alpha[from + 1] as number;
      const r = alpha[below] as number;
      const s = alpha[below + 1] as number;
      // Most of a layer is empty.
      if ((p | q | r | s) === 0) continue;
      const right = (inX >> 8) & 255;
      const down = (inY >> 8) & 255;
      const cover = between(p, q, r, s, right, down);
      const colour = between(
        source[from] as number,
        source[from + 1] as number,
        source[below] as number,
        source[below + 1] as number,
        right,
        down,
      );
      // 255 times 256 is everything: 257 makes it 2 to the 16th, but for one.
      const weight = (cover * strength * 257 + 128) >> 8;
      const under = target[at] as number;
      target[at] = under + (((colour - under) * weight + 32768) >> 16);
    }
  }
}

function between(p: number, q: number, r: number, s: number, right: number, down: number): number {
  const top = (p << 8) + (q - p) * right;
  const bottom = (r << 8) + (s - r) * right;
  return ((top << 8) + (bottom - top) * down + 32768) >> 16;
}

/** More than the error that adds up over a row of fixed-point steps: nothing is read past an edge. */
const HAIR = 0.05;

/** For which columns `start + step * column` lies between 0 and the end. */
function columnsInside(start: number, step: number, end: number, width: number): [number, number] {
  const [least, most] = [HAIR, end - HAIR];
  if (Math.abs(step) < 1e-9) return start >= least && start < most ? [0, width] : [0, 0];
  const first = ((step > 0 ? least : most) - start) / step;
  const last = ((step > 0 ? most : least) - start) / step;
  return [Math.max(0, Math.ceil(first)), Math.min(width, Math.floor(last) + 1)];
}
