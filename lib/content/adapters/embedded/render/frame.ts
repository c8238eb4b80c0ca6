/** Pictures in the format of the encoder. libvips (sharp) scales and turns them, plane by plane. */
import sharp, { type Sharp } from "sharp";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A picture as 8-bit I420, BT.709, limited range, so that no picture is converted twice. */
export interface Frame extends Size {
  /** The three planes, consecutively. The sides of the chroma planes are rounded up. */
  readonly data: Uint8Array;
}

export interface Plane extends Size {
  readonly samples: Uint8Array;
  readonly isLuma: boolean;
}

/** The matrix of BT.709 for limited range, from RGB to Y, U and V, without the offsets. */
const BT709: [number[], number[], number[]] = [
  [0.18259, 0.61423, 0.06201],
  [-0.10064, -0.33857, 0.43922],
  [0.43921, -0.39894, -0.04027],
];

const halfOf = ({ width, height }: Size) => ({
  width: (width + 1) >> 1,
  height: (height + 1) >> 1,
});

export function createFrame({ width, height }: Size): Frame {
  const half = halfOf({ width, height });
  return { width, height, data: new Uint8Array(width * height + 2 * half.width * half.height) };
}

function planesOf({ data, width, height }: Frame): Plane[] {
  let end = 0;
  const half = halfOf({ width, height });
  return [{ width, height }, half, half].map((size, at) => {
    const start = end;
    end += size.width * size.height;
    return { ...size, samples: data.subarray(start, end), isLuma: at === 0 };
  });
}

/** Returns the result of libvips operations on each plane; `to` has the plane's size in the result. */
export async function editFrame(
  frame: Frame,
  size: Size,
  edit: (plane: Sharp, to: Plane) => Sharp,
): Promise<Frame> {
  const edited = createFrame(size);
  const targets = planesOf(edited);
  const edits = planesOf(frame).map(async ({ samples, width, height }, at) => {
    const to = targets[at] as Plane;
    const plane = edit(sharp(samples, { raw: { width, height, channels: 1 } }), to);
    to.samples.set(await plane.toColourspace("b-w").raw().toBuffer());
  });
  await Promise.all(edits);
  return edited;
}

/** @param rgb three bytes per pixel, in rows without padding */
export async function frameFromRgb(rgb: Uint8Array, size: Size): Promise<Frame> {
  const frame = createFrame(size);
  const planes = planesOf(frame).map(async ({ samples, width, height }, channel) => {
    const plane = sharp(rgb, { raw: { ...size, channels: 3 } })
      .resize(width, height, { fit: "fill" })
      .recomb(BT709 as Parameters<Sharp["recomb"]>[0])
      // The offsets, and a half, because libvips truncates.
      .linear([1, 1, 1], [16.5, 128.5, 128.5])
      .extractChannel(channel as 0 | 1 | 2);
    samples.set(await plane.raw().toBuffer());
  });
  await Promise.all(planes);
  return frame;
}

/** Enlarges the middle of a frame to the whole frame, bilinearly: libvips needs twice the time. */
export function zoomFrame(frame: Frame, zoom: number): Frame {
  const zoomed = createFrame(frame);
  const targets = planesOf(zoomed);
  for (const [plane, { samples, width, height }] of planesOf(frame).entries()) {
    const to = (targets[plane] as Plane).samples;
    const columns = positions(width, zoom);
    const rows = positions(height, zoom);
    for (let row = 0, at = 0; row < height; row++) {
      const start = (rows.before[row] as number) * width;
      const down = rows.weight[row] as number;
      for (let column = 0; column < width; column++, at++) {
        const corner = start + (columns.before[column] as number);
        const right = columns.weight[column] as number;
        const above = mix(samples[corner] as number, samples[corner + 1] as number, right);
        const below = mix(
          samples[corner + width] as number,
          samples[corner + width + 1] as number,
          right,
        );
        to[at] = (mix(above, below, down) + 32768) >> 16;
      }
    }
  }
  return zoomed;
}

/** Returns the weighted mean of two samples, multiplied by 256. */
const mix = (a: number, b: number, weight: number): number => (a << 8) + (b - a) * weight;

/** Returns, along one axis, the sample before each pixel and the weight of the next one, in 256ths. */
function positions(length: number, zoom: number) {
  const before = new Int32Array(length);
  const weight = new Int32Array(length);
  for (let at = 0; at < length; at++) {
    const place = Math.max(0, (at + 0.5 - length / 2) / zoom + length / 2 - 0.5);
    before[at] = Math.min(place, length - 2);
    weight[at] = Math.round((place - (before[at] as number)) * 256);
  }
  return { before, weight };
}

/** @param opacity of each sample of `over`, or of all, from 0 to 256 */
export function blend(under: Frame, over: Frame, opacity: Uint8Array | number): Frame {
  const blended = createFrame(under);
  const [from, to] = [under.data, over.data];
  const weights = typeof opacity === "number" ? null : opacity;
  for (let at = 0; at < from.length; at++) {
    const under = from[at] as number;
    const weight = weights ? (weights[at] as number) : (opacity as number);
    blended.data[at] = under + ((((to[at] as number) - under) * weight + 128) >> 8);
  }
  return blended;
}
