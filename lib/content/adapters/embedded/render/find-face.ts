/**
 * Where a face may be in a picture: a place of the colours that skin has, with two eyes that are
 * darker than what is between and below them. A guess, good enough to put a mouth in place; many
 * pictures have none.
 */
import type { Frame } from "./frame.ts";

/** In shares of the picture's width and height; from ear to ear, and from hair to chin. */
export interface Face {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Where the lips meet. */
  readonly lips: number;
}

/** The picture is looked at this small. */
const COLUMNS = 128;
const SMALLEST = 12;
const NEXT_SIZE = 1.12;
/** How much higher than wide a face is. */
const HEIGHT = 1.35;
const USUAL_LIPS = 0.77;
/** How much of its middle must be of the colours of skin. */
const LEAST_SKIN = 0.55;
/** How much darker eyes must be than what is around them, of 255. */
const LEAST_CONTRAST = 14;

/** Parts of a face, in shares of it: x, y, width and height. */
const parts = {
  eyes: [
    [0.22, 0.38, 0.2, 0.1],
    [0.58, 0.38, 0.2, 0.1],
  ],
  brow: [0.28, 0.25, 0.44, 0.09],
  bridge: [0.43, 0.38, 0.14, 0.1],
  cheeks: [
    [0.2, 0.54, 0.22, 0.12],
    [0.58, 0.54, 0.22, 0.12],
  ],
  mouth: [0.36, 0.74, 0.28, 0.07],
  chin: [0.36, 0.86, 0.28, 0.07],
  middle: [0.2, 0.3, 0.6, 0.6],
  leftOf: [-0.28, 0.2, 0.2, 0.6],
  rightOf: [1.08, 0.2, 0.2, 0.6],
} as const;
type Part = readonly [number, number, number, number];

export function findFace(frame: Frame): Face | null {
  const rows = Math.round((COLUMNS * frame.height) / frame.width);
  const light = sums(rows, (x, y) => lumaAt(frame, x, y));
  const skin = sums(rows, (x, y) => (isSkin(frame, x, y) ? 1 : 0));
  const largest = Math.min(COLUMNS * 0.8, (rows * 0.95) / HEIGHT);
  let best: { readonly face: Face; readonly score: number } | null = null;
  for (let width = SMALLEST; width <= largest; width *= NEXT_SIZE) {
    const height = width * HEIGHT;
    const step = Math.max(1, width / 14);
    for (let y = 0; y + height <= rows; y += step) {
      for (let x = 0; x + width <= COLUMNS; x += step) {
        const mean = (of: Sums, [partX, partY, partWidth, partHeight]: Part) =>
          of(x + partX * width, y + partY * height, partWidth * width, partHeight * height);
        const score = rate(mean, light, skin);
        if (score === null || (best && score <= best.score)) continue;
        const lips = (y + height * findLips(mean, light)) / rows;
        const place = { x: x / COLUMNS, y: y / rows };
        best = { face: { ...place, width: width / COLUMNS, height: height / rows, lips }, score };
      }
    }
  }
  return best?.face ?? null;
}

type Mean = (of: Sums, part: Part) => number;

/** The darkest line where a mouth may be, in shares of the face's height; where most are when in doubt. */
function findLips(mean: Mean, light: Sums): number {
  let lips = USUAL_LIPS;
  let darkest = Number.POSITIVE_INFINITY;
  for (let at = USUAL_LIPS - 0.1; at <= USUAL_LIPS + 0.1; at += 0.02) {
    const dark = mean(light, [0.34, at - 0.02, 0.32, 0.04]) + 80 * Math.abs(at - USUAL_LIPS);
    if (dark >= darkest) continue;
    darkest = dark;
    lips = at;
  }
  return lips;
}

function rate(mean: Mean, light: Sums, skin: Sums): number | null {
  const covered = mean(skin, parts.middle);
  if (covered < LEAST_SKIN) return null;
  const [left, right] = [mean(light, parts.eyes[0]), mean(light, parts.eyes[1])];
  const bright = Math.min(
    mean(light, parts.brow),
    mean(light, parts.bridge),
    mean(light, parts.cheeks[0]),
    mean(light, parts.cheeks[1]),
  );
  const contrast = bright - Math.max(left, right);
  if (contrast < LEAST_CONTRAST) return null;
  const mouth = Math.max(0, mean(light, parts.chin) - mean(light, parts.mouth));
  const around = (mean(skin, parts.leftOf) + mean(skin, parts.rightOf)) / 2;
  return contrast - Math.abs(left - right) / 2 + mouth / 2 + 40 * (covered - around);
}

/** The mean of a value over a part of the picture. */
type Sums = (x: number, y: number, width: number, height: number) => number;

/** With a table of sums, so that a part of any size costs the same. */
function sums(rows: number, valueAt: (x: number, y: number) => number): Sums {
  const stride = COLUMNS + 1;
  const table = new Float64Array(stride * (rows + 1));
  const at = (column: number, row: number) => table[row * stride + column] ?? 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const value = valueAt((column + 0.5) / COLUMNS, (row + 0.5) / rows);
      table[(row + 1) * stride + column + 1] =
        value + at(column, row + 1) + at(column + 1, row) - at(column, row);
    }
  }
  return (x, y, width, height) => {
    const [left, top] = [Math.max(0, Math.round(x)), Math.max(0, Math.round(y))];
    const right = Math.min(COLUMNS, Math.max(left + 1, Math.round(x + width)));
    const bottom = Math.min(rows, Math.max(top + 1, Math.round(y + height)));
    if (right <= left || bottom <= top) return 0;
    const sum = at(right, bottom) - at(left, bottom) - at(right, top) + at(left, top);
    return sum / ((right - left) * (bottom - top));
  };
}

const lumaAt = ({ y, width, height }: Frame, atX: number, atY: number): number =>
  y[Math.floor(atY * height) * width + Math.floor(atX * width)] ?? 0;

function isSkin(frame: Frame, atX: number, atY: number): boolean {
  const { u, v, width, height } = frame;
  const chroma = Math.floor((atY * height) / 2) * (width / 2) + Math.floor((atX * width) / 2);
  const [blue, red] = [u[chroma] ?? 128, v[chroma] ?? 128];
  return lumaAt(frame, atX, atY) > 45 && blue > 85 && blue < 126 && red > 134 && red < 172;
}
