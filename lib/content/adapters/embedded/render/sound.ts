/** Reads, generates and mixes sound: two channels at one sample rate. */
import { type AudioSample, AudioSampleSink, type InputAudioTrack } from "mediabunny";
import { createSound, SAMPLE_RATE, type Sound } from "./clip.ts";
import { readMedia } from "./open-media.ts";
import { UnusableInput } from "./unusable-input.ts";

const TONE_HERTZ = 220;
const TONE_VOLUME = 0.05;
const FADE_SECONDS = 0.25;

/**
 * @param start the offset into the track, in seconds
 * @param maxSeconds how much to read at most
 * @throws UnusableInput when the track cannot be decoded, or has no samples after the start
 */
export function readSound(
  track: InputAudioTrack,
  message: string,
  start: number,
  maxSeconds: number,
): Promise<Sound> {
  return readMedia(message, async () => {
    const sides: [Float32Array[], Float32Array[]] = [[], []];
    let rate = 0;
    let length = 0;
    for await (const sample of new AudioSampleSink(track).samples(start, start + maxSeconds)) {
      rate = sample.sampleRate;
      length += sample.numberOfFrames;
      sides[0].push(channelOf(sample, 0));
      sides[1].push(channelOf(sample, Math.min(1, sample.numberOfChannels - 1)));
      sample.close();
      // The timestamps of a hostile file may understate its length.
      if (length > (maxSeconds + 1) * rate) break;
    }
    if (length === 0) throw new UnusableInput(message, "no samples");
    const [left, right] = sides.map((pieces) => resample(join(pieces, length), rate));
    return { left: left ?? new Float32Array(), right: right ?? new Float32Array() };
  });
}

function channelOf(sample: AudioSample, planeIndex: number): Float32Array {
  const samples = new Float32Array(sample.numberOfFrames);
  sample.copyTo(samples, { planeIndex, format: "f32-planar" });
  return samples;
}

function join(pieces: readonly Float32Array[], length: number): Float32Array {
  const whole = new Float32Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Interpolates linearly between the two nearest samples. */
function resample(samples: Float32Array, rate: number): Float32Array {
  if (rate === SAMPLE_RATE) return samples;
  const resampled = new Float32Array(Math.floor((samples.length * SAMPLE_RATE) / rate));
  return resampled.map((_, index) => {
    const place = (index * rate) / SAMPLE_RATE;
    const before = samples[Math.floor(place)] ?? 0;
    const after = samples[Math.floor(place) + 1] ?? before;
    return before + (after - before) * (place - Math.floor(place));
  });
}

/** Creates a quiet, steady tone that fades in and out: a placeholder for generated audio. */
export function createTone(seconds: number): Sound {
  const { left } = createSound(seconds);
  const fade = FADE_SECONDS * SAMPLE_RATE;
  const tone = left.map((_, at) => {
    const edge = Math.min(1, at / fade, (left.length - at) / fade);
    return TONE_VOLUME * edge * Math.sin((2 * Math.PI * TONE_HERTZ * at) / SAMPLE_RATE);
  });
  return { left: tone, right: tone };
}

/** Mixes sounds, each from its own second on, and cuts them at the end. */
export function mixSounds(
  seconds: number,
  parts: readonly { readonly sound: Sound; readonly from: number }[],
): Sound {
  const mixed = createSound(seconds);
  for (const { sound, from } of parts) {
    const start = Math.round(from * SAMPLE_RATE);
    for (const side of ["left", "right"] as const) {
      const [to, samples] = [mixed[side], sound[side]];
      const length = Math.min(samples.length, to.length - start);
      for (let at = 0; at < length; at++) {
        const sum = (to[start + at] as number) + (samples[at] as number);
        to[start + at] = Math.min(1, Math.max(-1, sum));
      }
    }
  }
  return mixed;
}

/** Returns the root mean square of each frame, 0 to 1, relative to the loudest frame. */
export function loudnessOf({ left }: Sound, frameRate: number): Float32Array {
  const perFrame = SAMPLE_RATE / frameRate;
  const levels = new Float32Array(Math.max(1, Math.round(left.length / perFrame))).map(
    (_, frame) => {
      const samples = left.subarray(frame * perFrame, (frame + 1) * perFrame);
      return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / perFrame);
    },
  );
  const loudest = Math.max(0.001, ...levels);
  return levels.map((level) => level / loudest);
}
