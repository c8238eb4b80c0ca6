/** The MP4 that is made: H.264 and AAC, 24 frames a second, its index in front so that it streams. */
import { writeFile } from "node:fs/promises";
import "node-webcodecs/register";
import {
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  Mp4OutputFormat,
  Output,
  Quality,
  VideoSample,
  VideoSampleSource,
} from "mediabunny";
import type { Frame } from "./frame.ts";

export const FRAME_RATE = 24;
export const SAMPLE_RATE = 48_000;

/** Two channels of equal length, -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

export interface VideoWriter {
  add(frame: Frame): Promise<void>;
  /** Nothing may be added afterwards. */
  finish(): Promise<void>;
}

const bt709 = { primaries: "bt709", transfer: "bt709", matrix: "bt709", fullRange: false } as const;
/** The encoder's own unit; in larger pieces it loses samples. */
const AUDIO_PIECE = 1024;

/** @param sound the whole track; null for a video without one */
export async function createVideo(
  path: string,
  width: number,
  height: number,
  sound: Sound | null,
): Promise<VideoWriter> {
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const pictures = new VideoSampleSource({
    codec: "avc",
    // About 0.3 bits a pixel: more than needed, as the software encoder uses what the picture asks for.
    quality: new Quality({ bitrate: Math.round(width * height * FRAME_RATE * 0.3) }),
    keyFrameInterval: 2,
    onEncoderConfig: (config) => {
      Object.assign(config, { colorSpace: bt709, framerate: FRAME_RATE });
    },
  });
  output.addVideoTrack(pictures, { frameRate: FRAME_RATE });
  const track =
    sound && new AudioSampleSource({ codec: "aac", quality: new Quality({ bitrate: 160_000 }) });
  if (track) output.addAudioTrack(track);
  await output.start();
  if (track && sound) await addSound(track, sound);
  track?.close();
  let count = 0;
  return {
    async add(frame) {
      const sample = new VideoSample(frame.data, {
        format: "I420",
        codedWidth: width,
        codedHeight: height,
        timestamp: count / FRAME_RATE,
        duration: 1 / FRAME_RATE,
        colorSpace: bt709,
      });
      count += 1;
      await pictures.add(sample);
      sample.close();
    },
    async finish() {
      pictures.close();
      await output.finalize();
      await writeFile(path, new Uint8Array(target.buffer ?? new ArrayBuffer(0)));
    },
  };
}

async function addSound(track: AudioSampleSource, { left, right }: Sound): Promise<void> {
  for (let start = 0; start < left.length; start += AUDIO_PIECE) {
    const end = Math.min(left.length, start + AUDIO_PIECE);
    const data = new Float32Array(2 * (end - start));
    for (let at = start; at < end; at++) {
      data[2 * (at - start)] = left[at] ?? 0;
      data[2 * (at - start) + 1] = right[at] ?? 0;
    }
    const sample = new AudioSample({
      data,
      // The encoder reads every other format as if it were this one.
      format: "f32",
      numberOfChannels: 2,
      sampleRate: SAMPLE_RATE,
      timestamp: start / SAMPLE_RATE,
    });
    await track.add(sample);
    sample.close();
  }
}
