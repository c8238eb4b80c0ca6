import type { Frame, Size } from "./frame.ts";

export const FRAME_RATE = 24;

/** A video that is being rendered. */
export interface Clip extends Size {
  /** The number of frames. */
  readonly length: number;
  readonly frames: AsyncIterable<Frame>;
  /** See sound.ts. */
  readonly sound: Float32Array | null;
}

/** Changes each frame of a clip. @param change gets the frame and its number from 0 on */
export function mapFrames(
  clip: Clip,
  size: Size,
  change: (frame: Frame, at: number) => Frame | Promise<Frame>,
): Clip {
  const frames = (async function* () {
    let at = 0;
    for await (const frame of clip.frames) yield change(frame, at++);
  })();
  return { ...clip, width: size.width, height: size.height, frames };
}
