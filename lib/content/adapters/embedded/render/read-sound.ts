/** A caller's sound, whole, as two channels at our sample rate. */
import { type AudioSample, AudioSampleSink, type InputAudioTrack } from "mediabunny";
import { orUnusable } from "./open-media.ts";
import { UnusableInput } from "./unusable-input.ts";
import { SAMPLE_RATE, type Sound } from "./write-video.ts";

/**
 * @param most seconds that are read; what comes after them is left out
 * @throws UnusableInput when it cannot be decoded
 */
export async function readSound(
  track: InputAudioTrack,
  field: string,
  most: number,
): Promise<Sound> {
  const unusable = new UnusableInput(`${field} cannot be read as audio`);
  return orUnusable(unusable, async () => {
    const pieces: [Float32Array, Float32Array][] = [];
    let rate = 0;
    let length = 0;
    for await (const sample of new AudioSampleSink(track).samples(0, most)) {
      rate = sample.sampleRate;
      length += sample.numberOfFrames;
      const channels = [0, Math.min(1, sample.numberOfChannels - 1)] as const;
      pieces.push([channelOf(sample, channels[0]), channelOf(sample, channels[1])]);
      sample.close();
      // A file may say of itself that it is short.
      if (length > (most + 1) * rate) break;
    }
    if (length === 0) throw unusable;
    return {
      left: atOurRate(
        join(
          pieces.map(([left]) => left),
          length,
        ),
        rate,
      ),
      right: atOurRate(
        join(
          pieces.map(([, right]) => right),
          length,
        ),
        rate,
      ),
    };
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

/** By a curve through the four nearest samples. */
function atOurRate(samples: Float32Array, rate: number): Float32Array {
  if (rate === SAMPLE_RATE) return samples;
  const step = rate / SAMPLE_RATE;
  const resampled = new Float32Array(Math.floor(samples.length / step));
  const at = (index: number) => samples[index] ?? 0;
  for (let index = 0; index < resampled.length; index++) {
    const place = index * step;
    const before = Math.floor(place);
    const share = place - before;
    const [a, b, c, d] = [at(before - 1), at(before), at(before + 1), at(before + 2)];
    const slope = (c - a) / 2;
    const bend = a - 2.5 * b + 2 * c - d / 2;
    const twist = (d - a) / 2 + 1.5 * (b - c);
    resampled[index] = ((twist * share + bend) * share + slope) * share + b;
  }
  return resampled;
}
