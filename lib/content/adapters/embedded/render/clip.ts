import type { Frame } from "./frame.ts";
import type { Sound } from "./write-video.ts";

/** What a mode makes: pictures one after another, and the sound to them. */
export interface Clip {
  readonly width: number;
  readonly height: number;
  /** Each is done with when the next is asked for: its memory is used again. */
  readonly frames: Iterable<Frame> | AsyncIterable<Frame>;
  readonly sound: Sound | null;
}
