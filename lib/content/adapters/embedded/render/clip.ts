import type { Frame, Size } from "./frame.ts";

export const FRAME_RATE = 24;
export const SAMPLE_RATE = 48_000;

/** Two channels of equal length, with samples from -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** A video that is being rendered. */
export interface Clip extends Size {
  /** The number of frames. */
  readonly length: number;
  /** A frame is valid until the next one is requested: its memory is reused. */
  readonly frames: Iterable<Frame> | AsyncIterable<Frame>;
  readonly sound: Sound | null;
}

export const createSound = (seconds: number): Sound => {
  const length = Math.round(seconds * SAMPLE_RATE);
  return { left: new Float32Array(length), right: new Float32Array(length) };
};
