/**
 * Reads, generates and mixes sound, always as interleaved samples of two channels, from -1 to 1, at one
 * sample rate.
 */
import {
  AudioSampleSink,
  AudioSampleSource,
  type InputAudioTrack,
  NullTarget,
  Output,
  WavOutputFormat,
} from "mediabunny";
import { readMedia } from "./open-media.ts";
import { UnusableInput } from "./unusable-input.ts";

export const SAMPLE_RATE = 48_000;
export const CHANNELS = 2;

const TONE_HERTZ = 220;
const TONE_VOLUME = 0.05;

/** Returns the index of the sample at a time. */
export const indexAt = (seconds: number): number => CHANNELS * Math.round(seconds * SAMPLE_RATE);

/**
 * @param start the offset into the track, in seconds
 * @param maxSeconds how much to read at most, with a tolerance of a second
 * @throws UnusableInput when the track cannot be decoded, or has no samples after the start
 */
export function readSound(
  track: InputAudioTrack,
  message: string,
  start: number,
  maxSeconds: number,
): Promise<Float32Array> {
  return readMedia(message, async () => {
    const pieces: Float32Array<ArrayBuffer>[] = [];
    // Resamples and mixes down for an output without a reader, and passes on the resulting samples.
    const resampler = new AudioSampleSource({
      codec: "pcm-f32",
      transform: {
        ...{ numberOfChannels: CHANNELS, sampleRate: SAMPLE_RATE },
        process(sample) {
          const piece = new Float32Array(sample.numberOfFrames * CHANNELS);
          sample.copyTo(piece, { planeIndex: 0, format: "f32" });
          pieces.push(piece);
          return sample;
        },
      },
    });
    const output = new Output({ format: new WavOutputFormat(), target: new NullTarget() });
    output.addAudioTrack(resampler);
    await output.start();
    let seconds = 0;
    for await (const sample of new AudioSampleSink(track).samples(start, start + maxSeconds)) {
      // The timestamps of a container are rounded, and a hostile file's timestamps understate its length.
      sample.setTimestamp(seconds);
      seconds += sample.duration;
      await resampler.add(sample);
      sample.close();
      if (seconds > maxSeconds + 1) break;
    }
    await output.finalize();
    if (pieces.length === 0) throw new UnusableInput(message, "no samples");
    return new Float32Array(await new Blob(pieces).arrayBuffer());
  });
}

/** Creates a quiet, steady tone: a placeholder for generated audio. */
export function createTone(seconds: number): Float32Array {
  const turn = (2 * Math.PI * TONE_HERTZ) / (SAMPLE_RATE * CHANNELS);
  return new Float32Array(indexAt(seconds)).map((_, at) => TONE_VOLUME * Math.sin(turn * at));
}

/** Mixes sounds, each from its own second on, and cuts them at the end. */
export function mixSounds(
  seconds: number,
  parts: readonly { readonly sound: Float32Array; readonly from: number }[],
): Float32Array {
  const mixed = new Float32Array(indexAt(seconds));
  for (const { sound, from } of parts) {
    const start = indexAt(from);
    for (let at = start; at < Math.min(mixed.length, start + sound.length); at++) {
      const sum = (mixed[at] as number) + (sound[at - start] as number);
      mixed[at] = Math.min(1, Math.max(-1, sum));
    }
  }
  return mixed;
}
