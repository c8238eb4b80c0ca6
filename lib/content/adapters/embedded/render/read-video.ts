/** Reads a caller's video as frames of a given size, at the frame rate of all renderings. */
import type { InputVideoTrack } from "mediabunny";
import { FRAME_RATE } from "./clip.ts";
import { decodeVideo } from "./decode-video.ts";
import { coverView, drawView } from "./draw-view.ts";
import { createFrame, type Frame, type Size } from "./frame.ts";
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
 * Draws the frames of the track into the target, cropped to its aspect ratio, and yields the target
 * for each frame.
 *
 * @param count the number of frames to yield; a shorter track holds its last frame
 * @throws UnusableInput with the message when the track cannot be decoded to its end
 */
export async function* readFrames(
  track: InputVideoTrack,
  target: Frame,
  count: number,
  message: string,
): AsyncGenerator<Frame> {
  const start = await track.getFirstTimestamp();
  const rotation = await track.getRotation();
  const shown = { width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
  const view = coverView(shown, target);
  let at = 0;
  for await (const { frame, until } of decodeVideo(track, message)) {
    // The track is always decoded to its end, so that a truncated file is refused in any case.
    if (at >= count || until <= timeOf(at)) continue;
    drawView(target, rotate(frame, rotation), view);
    for (; at < count && timeOf(at) < until; at++) yield target;
  }

  /** Returns the middle of a frame, so that rounding cannot move it to a neighbouring frame. */
  function timeOf(index: number): number {
    return start + (index + 0.5) / FRAME_RATE;
  }
}

/** Rotates clockwise by 0, 90, 180 or 270 degrees, as the metadata of phone videos ask for. */
function rotate(frame: Frame, degrees: number): Frame {
  if (degrees % 360 === 0) return frame;
  const quarter = rotateQuarter(frame);
  return rotate(quarter, degrees - 90);
}

function rotateQuarter(frame: Frame): Frame {
  const { width, height } = frame;
  const turned = createFrame({ width: height, height: width });
  for (const plane of ["y", "u", "v"] as const) {
    const [columns, rows] = plane === "y" ? [width, height] : [width / 2, height / 2];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const value = frame[plane][row * columns + column] as number;
        turned[plane][column * rows + rows - 1 - row] = value;
      }
    }
  }
  return turned;
}
