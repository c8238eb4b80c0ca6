/**
 * A picture in the format of the encoder: 8-bit I420, BT.709, limited range. All rendering uses this
 * format, so that no frame is converted twice.
 */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Both sides are even. */
export interface Frame extends Size {
  /** The three planes, consecutively. */
  readonly data: Uint8Array;
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

export function createFrame({ width, height }: Size): Frame {
  const luma = width * height;
  const chroma = luma / 4;
  const data = new Uint8Array(luma + 2 * chroma);
  return {
    width,
    height,
    data,
    y: data.subarray(0, luma),
    u: data.subarray(luma, luma + chroma),
    v: data.subarray(luma + chroma),
  };
}

/** @param rgb three bytes per pixel, in rows without padding */
export function frameFromRgb(rgb: Uint8Array, size: Size): Frame {
  const frame = createFrame(size);
  const { y, u, v, width, height } = frame;
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      let [red, green, blue] = [0, 0, 0];
      for (let corner = 0; corner < 4; corner++) {
        const pixel = (row + (corner >> 1)) * width + column + (corner & 1);
        const [r, g, b] = [rgb[pixel * 3] ?? 0, rgb[pixel * 3 + 1] ?? 0, rgb[pixel * 3 + 2] ?? 0];
        y[pixel] = 16 + ((11966 * r + 40254 * g + 4064 * b + 32768) >> 16);
        red += r;
        green += g;
        blue += b;
      }
      const at = (row * width) / 4 + column / 2;
      u[at] = 128 + ((-6596 * red - 22189 * green + 28785 * blue + 131072) >> 18);
      v[at] = 128 + ((28784 * red - 26145 * green - 2639 * blue + 131072) >> 18);
    }
  }
  return frame;
}

/** Returns the planes of a frame with their sizes. */
export const planesOf = ({ y, u, v, width, height }: Frame) =>
  [
    { samples: y, width, height },
    { samples: u, width: width / 2, height: height / 2 },
    { samples: v, width: width / 2, height: height / 2 },
  ] as const;

export type Plane = ReturnType<typeof planesOf>[number];
