/** Writes a clip as MP4 with H.264 and AAC. The index comes first, which allows players to stream the file. */
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
import { type Clip, FRAME_RATE } from "./clip.ts";
import { CHANNELS, SAMPLE_RATE } from "./sound.ts";

const bt709 = { primaries: "bt709", transfer: "bt709", matrix: "bt709", fullRange: false } as const;
/** The encoder's frame size; it loses samples of larger pieces. */
const AUDIO_FRAME_SAMPLES = 1024;

export async function writeVideo(clip: Clip, path: string): Promise<void> {
  const { width, height, sound } = clip;
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const pictures = new VideoSampleSource({
    codec: "avc",
    // About 0.3 bits per pixel. This is an upper bound: the encoder uses only as much as the picture
    // needs.
    quality: new Quality({ bitrate: Math.round(width * height * FRAME_RATE * 0.3) }),
    keyFrameInterval: 2,
    onEncoderConfig: (config) => {
      // Synchronous, like the decoder: asynchronously, the last packets could arrive after the flush.
      const settings = { colorSpace: bt709, framerate: FRAME_RATE, useWorkerThread: false };
      Object.assign(config, settings);
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
  for await (const { data } of clip.frames) {
    const sample = new VideoSample(data, {
      ...{ format: "I420", codedWidth: width, codedHeight: height, colorSpace: bt709 },
      ...{ timestamp: count / FRAME_RATE, duration: 1 / FRAME_RATE },
    });
    count += 1;
    await pictures.add(sample);
    sample.close();
  }
  if (count !== clip.length)
    throw new Error(`The clip has ${count} frames instead of ${clip.length}`);
  pictures.close();
  await output.finalize();
  await writeFile(path, new Uint8Array(target.buffer ?? new ArrayBuffer(0)));
}

async function addSound(track: AudioSampleSource, sound: Float32Array): Promise<void> {
  const size = CHANNELS * AUDIO_FRAME_SAMPLES;
  for (let start = 0; start < sound.length; start += size) {
    const sample = new AudioSample({
      data: sound.slice(start, start + size),
      // The encoder interprets every format as this one.
      format: "f32",
      numberOfChannels: CHANNELS,
      sampleRate: SAMPLE_RATE,
      timestamp: start / CHANNELS / SAMPLE_RATE,
    });
    await track.add(sample);
    sample.close();
  }
}
