/** A caller's video as pictures of the size that is wanted, at our frame rate. */
import { type InputVideoTrack, VideoSampleSink } from "mediabunny";
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
  const count = Math.round(((await track.computeDuration()) - first) * FRAME_RATE);
  const moments = Array.from({ length: count }, (_, at) => first + (at + 0.5) / FRAME_RATE);
  const samples = new VideoSampleSink(track).samplesAtTimestamps(moments);
  for (let at = 0; at < count; at++) {
    await orUnusable(unusable, async () => {
      const { value: sample } = await samples.next();
      if (!sample) throw unusable;
      // Even sides, because colour has half the size of light.
      const [width, height] = [sample.codedWidth & ~1, sample.codedHeight & ~1];
      const rect = { x: 0, y: 0, width, height };
      const isWhole = width === sample.codedWidth && height === sample.codedHeight;
      const decoded = createFrame(width, height);
      await sample.copyTo(decoded.data, { format: "I420", ...(isWhole ? {} : { rect }) });
      const pixelShape = sample.squarePixelWidth / sample.squarePixelHeight / (width / height);
      const { rotation } = sample;
      sample.close();
      const source = shrink(decoded, target);
      drawOver(target, source, cover(source, target, rotation, pixelShape));
    });
    yield target;
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
