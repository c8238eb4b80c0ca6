/** Reads a caller's video as frames of a given size, at the frame rate of all renderings. */
import type { InputVideoTrack } from "mediabunny";
import type { Sharp } from "sharp";
import { FRAME_RATE } from "./clip.ts";
import { decodeVideo } from "./decode-video.ts";
import { editFrame, type Frame, type Size } from "./frame.ts";
import { readMedia } from "./open-media.ts";
import { UnusableInput } from "./unusable-input.ts";

export interface VideoInfo extends Size {
  readonly seconds: number;
}

/** Returns the upright size and the length of the track. @throws UnusableInput */
export function readInfo(track: InputVideoTrack, message: string): Promise<VideoInfo> {
  return readMedia(message, async () => {
    const seconds = (await track.computeDuration()) - (await track.getFirstTimestamp());
    if (!(seconds > 0)) throw new UnusableInput(message, `a length of ${seconds} seconds`);
    const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
    return { seconds, width, height };
  });
}

/**
 * Reads the frames of the track, upright, cropped to the aspect ratio of the size and scaled to it.
 *
 * @param count the number of frames to yield; a shorter track holds its last frame
 * @throws UnusableInput with the message when the track cannot be decoded to its end
 */
export async function* readFrames(
  track: InputVideoTrack,
  size: Size,
  count: number,
  message: string,
): AsyncGenerator<Frame> {
  const start = await track.getFirstTimestamp();
  const rotation = await track.getRotation();
  const { fullRange } = await track.getColorSpace();
  let at = 0;
  for await (const { frame, until } of decodeVideo(track, message)) {
    // The track is always decoded to its end, to refuse a truncated file in any case.
    if (at >= count || until <= timeOf(at)) continue;
    const upright = await editFrame(frame, size, (plane, { width, height, isLuma }) => {
      const fitted = plane.rotate(rotation).resize(width, height, { fit: "cover" });
      return fullRange ? limitRange(fitted, isLuma) : fitted;
    });
    for (; at < count && timeOf(at) < until; at++) yield upright;
  }

  /** Returns the middle of a frame, which rounding cannot move to a neighbouring frame. */
  function timeOf(index: number): number {
    return start + (index + 0.5) / FRAME_RATE;
  }
}

/** Converts full range (0 to 255), which some cameras record, to the limited range of all frames. */
const limitRange = (plane: Sharp, isLuma: boolean): Sharp =>
  isLuma ? plane.linear(219 / 255, 16.5) : plane.linear(224 / 255, 128.5 - (128 * 224) / 255);
