/**
 * Where a face may be in a picture: the largest patch of the colours that skin has, of the shape
 * that a face has. A guess, good enough to put a mouth in place; many pictures have none.
 */
import type { Frame } from "./frame.ts";

/** In shares of the picture's width and height. */
export interface Face {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const COLUMNS = 96;

export function findFace(frame: Frame): Face | null {
  const rows = Math.round((COLUMNS * frame.height) / frame.width);
  const skin = new Uint8Array(COLUMNS * rows);
  for (let at = 0; at < skin.length; at++) {
    const x = ((at % COLUMNS) + 0.5) / COLUMNS;
    const y = (Math.floor(at / COLUMNS) + 0.5) / rows;
    skin[at] = isSkin(frame, x, y) ? 1 : 0;
  }
  const patch = largestPatch(skin, rows);
  if (!patch) return null;
  const width = patch.right - patch.left + 1;
  // Neck and shoulders hang below a face and are of its colour.
  const height = Math.min(patch.bottom - patch.top + 1, Math.round(width * 1.4));
  const isFilled = patch.count > 0.35 * width * height;
  if (!isFilled || height < 0.7 * width || patch.count < 0.008 * skin.length) return null;
  return {
    x: patch.left / COLUMNS,
    y: patch.top / rows,
    width: width / COLUMNS,
    height: height / rows,
  };
}

function isSkin({ y, u, v, width, height }: Frame, atX: number, atY: number): boolean {
  const luma = y[Math.floor(atY * height) * width + Math.floor(atX * width)] ?? 0;
  const chroma = Math.floor((atY * height) / 2) * (width / 2) + Math.floor((atX * width) / 2);
  const [blue, red] = [u[chroma] ?? 128, v[chroma] ?? 128];
  return luma > 50 && blue > 85 && blue < 126 && red > 134 && red < 172;
}

interface Patch {
  left: number;
  right: number;
  top: number;
  bottom: number;
  count: number;
}

/** Empties the map while it goes over it. */
function largestPatch(skin: Uint8Array, rows: number): Patch | null {
  let largest: Patch | null = null;
  for (let start = 0; start < skin.length; start++) {
    if (!skin[start]) continue;
    const patch = { left: COLUMNS, right: 0, top: rows, bottom: 0, count: 0 };
    const open = [start];
    skin[start] = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const [column, row] = [at % COLUMNS, Math.floor(at / COLUMNS)];
      patch.left = Math.min(patch.left, column);
      patch.right = Math.max(patch.right, column);
      patch.top = Math.min(patch.top, row);
      patch.bottom = Math.max(patch.bottom, row);
      patch.count += 1;
      for (const [near, isThere] of [
        [at - 1, column > 0],
        [at + 1, column < COLUMNS - 1],
        [at - COLUMNS, row > 0],
        [at + COLUMNS, row < rows - 1],
      ] as const) {
        if (!isThere || !skin[near]) continue;
        skin[near] = 0;
        open.push(near);
      }
    }
    if (!largest || patch.count > largest.count) largest = patch;
  }
  return largest;
}
