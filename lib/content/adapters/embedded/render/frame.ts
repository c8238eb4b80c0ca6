/**
 * A picture as the encoder takes it: 8-bit I420, BT.709, limited range. All rendering happens in it,
 * so that no frame is converted twice.
 */

export interface Frame {
  /** Even, like the height. */
  readonly width: number;
  readonly height: number;
  /** The three planes one after another. */
  readonly data: Uint8Array;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

/** A picture with holes: how much of each pixel there is, 0 to 255, at full and at chroma size. */
export interface Layer extends Frame {
  readonly alpha: Uint8Array;
  readonly chromaAlpha: Uint8Array;
}

export function createFrame(width: number, height: number, data?: Uint8Array): Frame {
  const luma = width * height;
  const chroma = luma / 4;
  const bytes = data ?? new Uint8Array(luma + 2 * chroma);
  return {
    width,
    height,
    data: bytes,
    y: bytes.subarray(0, luma),
    u: bytes.subarray(luma, luma + chroma),
    v: bytes.subarray(luma + chroma, luma + 2 * chroma),
  };
}

/** @param rgb three bytes a pixel, rows without padding */
export function frameFromRgb(rgb: Uint8Array, width: number, height: number): Frame {
  const frame = createFrame(width, height);
  const { y, u, v } = frame;
  const half = width / 2;
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let corner = 0; corner < 4; corner++) {
        const pixel = (row + (corner >> 1)) * width + column + (corner & 1);
        const r = rgb[pixel * 3] ?? 0;
        const g = rgb[pixel * 3 + 1] ?? 0;
        const b = rgb[pixel * 3 + 2] ?? 0;
        y[pixel] = 16 + ((11966 * r + 40254 * g + 4064 * b + 32768) >> 16);
        red += r;
        green += g;
        blue += b;
      }
      const at = (row / 2) * half + column / 2;
      u[at] = 128 + ((-6596 * red - 22189 * green + 28785 * blue + 131072) >> 18);
      v[at] = 128 + ((28784 * red - 26145 * green - 2639 * blue + 131072) >> 18);
    }
  }
  return frame;
}

/** @param rgba four bytes a pixel, colour not multiplied by alpha */
export function layerFromRgba(rgba: Uint8Array, width: number, height: number): Layer {
  const pixels = width * height;
  const rgb = new Uint8Array(pixels * 3);
  const alpha = new Uint8Array(pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    rgb[pixel * 3] = rgba[pixel * 4] ?? 0;
    rgb[pixel * 3 + 1] = rgba[pixel * 4 + 1] ?? 0;
    rgb[pixel * 3 + 2] = rgba[pixel * 4 + 2] ?? 0;
    alpha[pixel] = rgba[pixel * 4 + 3] ?? 0;
  }
  const half = width / 2;
  const chromaAlpha = new Uint8Array(pixels / 4);
  for (let at = 0; at < chromaAlpha.length; at++) {
    const corner = 2 * Math.floor(at / half) * width + 2 * (at % half);
    const sum =
      (alpha[corner] ?? 0) +
      (alpha[corner + 1] ?? 0) +
      (alpha[corner + width] ?? 0) +
      (alpha[corner + width + 1] ?? 0);
    chromaAlpha[at] = sum >> 2;
  }
  return { ...frameFromRgb(rgb, width, height), alpha, chromaAlpha };
}

/** Each pixel of it the mean of four. */
export function halve(frame: Frame): Frame {
  const half = createFrame((frame.width >> 2) * 2, (frame.height >> 2) * 2);
  halvePlane(frame.y, frame.width, half.y, half.width);
  halvePlane(frame.u, frame.width / 2, half.u, half.width / 2);
  halvePlane(frame.v, frame.width / 2, half.v, half.width / 2);
  return half;
}

function halvePlane(from: Uint8Array, width: number, to: Uint8Array, halfWidth: number): void {
  for (let at = 0; at < to.length; at++) {
    const corner = 2 * Math.floor(at / halfWidth) * width + 2 * (at % halfWidth);
    const above = (from[corner] as number) + (from[corner + 1] as number);
    const below = (from[corner + width] as number) + (from[corner + width + 1] as number);
    to[at] = (above + below + 2) >> 2;
  }
}
