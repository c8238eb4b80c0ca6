import { FRAME_RATE, SAMPLE_RATE, type Sound } from "./write-video.ts";

/** Below and above what a voice is made of; drums and cymbals move no mouth. */
const LOWEST_HERTZ = 200;
const HIGHEST_HERTZ = 3500;

/**
 * How loud the voice's part of a sound is at each frame, 0 to 1, quick to rise and slower to fall.
 * Measured against the sound's own loud moments, so that a quiet recording moves as much.
 */
export function loudnessOf({ left, right }: Sound): Float32Array {
  const frames = new Float32Array(
    Math.max(1, Math.round((left.length / SAMPLE_RATE) * FRAME_RATE)),
  );
  const perFrame = SAMPLE_RATE / FRAME_RATE;
  const rise = 1 - Math.exp((-2 * Math.PI * HIGHEST_HERTZ) / SAMPLE_RATE);
  const sink = 1 - Math.exp((-2 * Math.PI * LOWEST_HERTZ) / SAMPLE_RATE);
  let smooth = 0;
  let slow = 0;
  for (let frame = 0; frame < frames.length; frame++) {
    let energy = 0;
    for (let at = frame * perFrame; at < (frame + 1) * perFrame; at++) {
      const sample = ((left[at] ?? 0) + (right[at] ?? 0)) / 2;
      smooth += rise * (sample - smooth);
      slow += sink * (smooth - slow);
      energy += (smooth - slow) ** 2;
    }
    frames[frame] = Math.sqrt(energy / perFrame);
  }
  const loud = [...frames].sort((one, other) => one - other)[Math.floor(frames.length * 0.95)] ?? 0;
  let held = 0;
  return frames.map((value) => {
    // Silence stays still, also when there is nothing but hiss.
    const wanted = loud < 0.0005 ? 0 : Math.min(1, value / loud) ** 0.8;
    held += (wanted - held) * (wanted > held ? 0.85 : 0.45);
    return held;
  });
}
