/** A caller's video as pictures of the size that is wanted, at our frame rate. */
import { type InputVideoTrack, type VideoSample, VideoSampleSink } from "mediabunny";
import { drawOver, type Mapping } from "./draw.ts";
import { createFrame, type Frame, halve } from "./frame.ts";
import { orUnusable } from "./open-media.ts";
import type { UnusableInput } from "./unusable-input.ts";
import { FRAME_RATE } from "./write-video.ts";

/**
 * The whole track, cut to the target's shape and drawn into it again and again.
 * @throws UnusableInput as given, when it cannot be decoded to its end
 */
export async function* readFrames(
  track: InputVideoTrack,
  target: Frame,
  unusable: UnusableInput,
): AsyncGenerator<Frame> {
  const first = await track.getFirstTimestamp();
  const { fullRange } = await track.getColorSpace();
  const count = Math.round(((await track.computeDuration()) - first) * FRAME_RATE);
  const moments = Array.from({ length: count }, (_, at) => first + (at + 0.5) / FRAME_RATE);
  const samples = new VideoSampleSink(track).samplesAtTimestamps(moments);
  for (let at = 0; at < count; at++) {
    await orUnusable(unusable, async () => {
      const { value: sample } = await samples.next();
      if (!sample) throw unusable;
      const decoded = await readPixels(sample);
      if (fullRange) limitRange(decoded);
      const shape = decoded.width / decoded.height;
      const pixelShape = sample.squarePixelWidth / sample.squarePixelHeight / shape;
      const { rotation } = sample;
      sample.close();
      const source = shrink(decoded, target);
      drawOver(target, source, cover(source, target, rotation, pixelShape));
    });
    yield target;
  }
}

/** A row or column that makes a side odd is left out: colour has half the size of light. */
async function readPixels(sample: VideoSample): Promise<Frame> {
  const { codedWidth, codedHeight, format } = sample;
  const frame = createFrame(codedWidth & ~1, codedHeight & ~1);
  if (format !== "I420") {
    const rect = { x: 0, y: 0, width: frame.width, height: frame.height };
    await sample.copyTo(frame.data, { format: "I420", rect });
    return frame;
  }
  // Without conversion and into no more bytes than 8-bit I420 has: the decoder calls formats that it
  // has no name for by this one, would convert them into nothing, and fails here if they are deeper.
  const [width, height] = [(codedWidth + 1) >> 1, (codedHeight + 1) >> 1];
  const bytes = new Uint8Array(codedWidth * codedHeight + 2 * width * height).fill(128);
  await sample.copyTo(bytes);
  const [u, v] = [codedWidth * codedHeight, codedWidth * codedHeight + width * height];
  cutPlane(bytes, codedWidth, frame.y, frame.width);
  cutPlane(bytes.subarray(u), width, frame.u, frame.width / 2);
  cutPlane(bytes.subarray(v), width, frame.v, frame.width / 2);
  return frame;
}

function cutPlane(from: Uint8Array, stride: number, to: Uint8Array, width: number): void {
  for (let row = 0; row * width < to.length; row++) {
    to.set(from.subarray(row * stride, row * stride + width), row * width);
  }
}

/** From 0 to 255, as some cameras write it, to the range of all that is rendered. */
function limitRange({ y, u, v }: Frame): void {
  for (let at = 0; at < y.length; at++) y[at] = 16 + Math.round(((y[at] as number) * 219) / 255);
  for (const plane of [u, v]) {
    for (let at = 0; at < plane.length; at++) {
      plane[at] = 128 + Math.round((((plane[at] as number) - 128) * 224) / 255);
    }
  }
}

/** So far that sampling it leaves no pixel out. */
function shrink(frame: Frame, target: Frame): Frame {
  const smallest = 2 * Math.max(target.width, target.height);
  return Math.max(frame.width, frame.height) >= smallest ? shrink(halve(frame), target) : frame;
}

/**
 * Fills the target from the middle of the source, turned clockwise by the angle that its metadata
 * says. @param pixelShape how much wider than high a pixel of the source is
 */
function cover(source: Frame, target: Frame, rotation: number, pixelShape: number): Mapping {
  const turned = rotation % 180 !== 0;
  const shownWidth = turned ? source.height : source.width * pixelShape;
  const shownHeight = turned ? source.width * pixelShape : source.height;
  const scale = Math.min(shownWidth / target.width, shownHeight / target.height);
  const [cos, sin] = [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
  ][Math.round(rotation / 90) % 4] as [number, number];
  const a = (scale * cos) / pixelShape;
  const b = (scale * sin) / pixelShape;
  const d = -scale * sin;
  const e = scale * cos;
  const [middleX, middleY] = [(target.width - 1) / 2, (target.height - 1) / 2];
  return {
    a,
    b,
    c: (source.width - 1) / 2 - a * middleX - b * middleY,
    d,
    e,
    f: (source.height - 1) / 2 - d * middleX - e * middleY,
  };
}
