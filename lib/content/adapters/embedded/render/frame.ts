/** Pictures in the format of the encoder. libvips (sharp) scales and turns them, plane by plane. */
import sharp, { type Sharp } from "sharp";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A picture as 8-bit I420, BT.709, limited range, so no picture is converted twice. */
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

/** @param opacity of each sample of `over`, from 0 to 255 */
export function blend(under: Frame, over: Frame, opacity: Uint8Array): Frame {
  const blended = createFrame(under);
  for (let at = 0; at < under.data.length; at++) {
    const [below, above] = [under.data[at] as number, over.data[at] as number];
    blended.data[at] = below + (((above - below) * (opacity[at] as number) + 128) >> 8);
  }
  return blended;
}
