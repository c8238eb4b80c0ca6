/** Reads untrusted video and sound into pictures and samples, and writes them as MP4. */
import { writeFile } from "node:fs/promises";
import "node-webcodecs/register";
import {
  AudioSample,
  AudioSampleSink,
  AudioSampleSource,
  BufferTarget,
  FilePathSource,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  Mp4OutputFormat,
  NullTarget,
  Output,
  Quality,
  VideoSample,
  VideoSampleSink,
  VideoSampleSource,
  WavOutputFormat,
} from "mediabunny";
import * as codecs from "node-webcodecs";
import sharp, { type Sharp } from "sharp";
import { CONTAINER_FORMATS } from "../../../container-formats.ts";
import { type Size, UnusableInput } from "./pictures.ts";

export const FRAME_RATE = 24;
const SAMPLE_RATE = 48_000;
const CHANNELS = 2;
/** The encoder's frame size; it loses samples of larger pieces. */
const AUDIO_FRAME_SAMPLES = 1024;
/** Bounds the memory of one decoded picture. */
const MAX_VIDEO_PIXELS = 4096 * 2304;

/** The codecs convert between RGB and YUV by the matrix of BT.601. */
const BT601 = { primaries: "smpte170m", transfer: "smpte170m", matrix: "smpte170m" } as const;

/** Decodes synchronously: in a worker thread, the last frames can arrive after the flush and be lost. */
class Decoder extends codecs.VideoDecoder {
  override configure(config: Parameters<codecs.VideoDecoder["configure"]>[0]): void {
    super.configure({ ...config, useWorkerThread: false });
  }
}
Object.assign(globalThis, { VideoDecoder: Decoder });

/** Four bytes per pixel, red, green, blue and opaque. */
export interface Picture extends Size {
  readonly data: Uint8Array;
}

/** A video that is being rendered. */
export interface Clip extends Size {
  /** The number of frames. */
  readonly length: number;
  readonly frames: AsyncIterable<Picture>;
  /** Interleaved samples of two channels, from -1 to 1, at one sample rate. */
  readonly sound: Float32Array | null;
  /** The color space of a decoded video, because its pictures are not converted. */
  readonly colorSpace?: VideoColorSpaceInit;
}

export interface Media {
  readonly video: InputVideoTrack | null;
  readonly audio: InputAudioTrack | null;
}

/**
 * @param field the parameter that error messages name
 * @throws UnusableInput when the file has neither video nor audio that can be decoded here
 */
export function openMedia(path: string, field: string): Promise<Media> {
  const message = `${field} cannot be read as a video or as audio`;
  return readMedia(message, async () => {
    const input = new Input({ source: new FilePathSource(path), formats: CONTAINER_FORMATS });
    const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    if (video) {
      const pixels = (await video.getCodedWidth()) * (await video.getCodedHeight());
      if (pixels > MAX_VIDEO_PIXELS) {
        throw new UnusableInput(`${field} must be at most 4096 by 2304 pixels`);
      }
      if (!(await video.canDecode())) throw new UnusableInput(message, await video.getCodec());
    }
    const heard = audio && (await audio.canDecode()) ? audio : null;
    if (!video && !heard) throw new UnusableInput(message, "no track that can be decoded");
    return { video, audio: heard };
  });
}

/**
 * Runs work that only parses or decodes a caller's file, and attributes its errors to the file. System
 * errors, such as a missing file, pass through, because they are failures of ours; so rendering and
 * writing must not happen inside.
 */
async function readMedia<T>(message: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isSystemError =
      error instanceof Error && "code" in error && typeof error.code === "string";
    if (error instanceof UnusableInput || isSystemError) throw error;
    throw new UnusableInput(message, error);
  }
}

/** Reads a file with a video as a clip of its upright size. @throws UnusableInput */
export async function readClip(path: string, field: string, maxSeconds: number): Promise<Clip> {
  const message = `${field} cannot be read as a video`;
  const { video, audio } = await openMedia(path, field);
  if (!video) throw new UnusableInput(message, "no video track");
  const { seconds, width, height } = await readMedia(message, async () => ({
    seconds: (await video.computeDuration()) - (await video.getFirstTimestamp()),
    width: await video.getDisplayWidth(),
    height: await video.getDisplayHeight(),
  }));
  if (!(seconds > 0)) throw new UnusableInput(message, `a length of ${seconds} seconds`);
  if (seconds > maxSeconds) {
    throw new UnusableInput(`${field} must be at most ${Math.floor(maxSeconds)} seconds`);
  }
  const length = Math.max(1, Math.round(seconds * FRAME_RATE));
  const sound = audio && (await readSound(audio, message, 0, length / FRAME_RATE));
  const colorSpace = await video.getColorSpace();
  return { width, height, length, sound, colorSpace, frames: readFrames(video, length, message) };
}

/** Yields the frames of the track, upright. A shorter track holds its last frame. */
async function* readFrames(
  track: InputVideoTrack,
  length: number,
  message: string,
): AsyncGenerator<Picture> {
  const start = await track.getFirstTimestamp();
  const rotation = await track.getRotation();
  const samples = new VideoSampleSink(track).samples();
  let shown: Picture | undefined;
  let at = 0;
  // The track is always decoded to its end, to refuse a truncated file in any case.
  for (;;) {
    const { value: sample } = await readMedia(message, () => samples.next());
    const until = sample ? sample.timestamp - start : Number.POSITIVE_INFINITY;
    // The middle of a frame, which rounding cannot move to a neighbouring frame.
    for (; shown && at < length && (at + 0.5) / FRAME_RATE < until; at++) yield shown;
    if (!sample) break;
    const decoded = await readMedia(message, () => readPixels(sample));
    sample.close();
    shown =
      rotation === 0 ? decoded : await editPicture(decoded, (image) => image.rotate(rotation));
  }
  if (!shown) throw new UnusableInput(message, "the decoder returned no frame");
}

async function readPixels(sample: VideoSample): Promise<Picture> {
  const { codedWidth, codedHeight, format } = sample;
  // The decoder also reports I420 for pixel formats that it has no name for, and cannot convert these. Copied
  // into as many bytes as 8-bit I420 has, full range is converted, and more bits per sample fail.
  const planes = new Uint8Array(
    format === "I420"
      ? codedWidth * codedHeight + 2 * Math.ceil(codedWidth / 2) * Math.ceil(codedHeight / 2)
      : sample.allocationSize(),
  );
  await sample.copyTo(planes);
  const frame = new VideoFrame(planes, {
    format: format as VideoPixelFormat,
    ...{ codedWidth, codedHeight, timestamp: 0 },
  });
  // A conversion omits the last row or column of an odd side.
  const [width, height] = [codedWidth & ~1, codedHeight & ~1];
  const data = new Uint8Array(4 * width * height);
  await frame.copyTo(data, { format: "RGBA", rect: { x: 0, y: 0, width, height } });
  frame.close();
  return { data, width, height };
}

/** Returns the result of libvips operations on a picture. */
export const editPicture = (
  { data, width, height }: Picture,
  edit: (image: Sharp) => Sharp,
): Promise<Picture> => toPicture(edit(sharp(data, { raw: { width, height, channels: 4 } })));

export async function toPicture(image: Sharp): Promise<Picture> {
  const { data, info } = await image
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

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

/** Writes a clip as MP4 with H.264 and AAC. The index comes first, which allows players to stream the file. */
export async function writeClip(clip: Clip, path: string): Promise<void> {
  const { width, height, length, frames, sound, colorSpace = BT601 } = clip;
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const pictures = new VideoSampleSource({
    codec: "avc",
    // About 0.3 bits per pixel. This is an upper bound: the encoder uses only as much as the picture
    // needs.
    quality: new Quality({ bitrate: Math.round(width * height * FRAME_RATE * 0.3) }),
    keyFrameInterval: 2,
    onEncoderConfig: (config) => {
      // Synchronous, like the decoder.
      const settings = { framerate: FRAME_RATE, useWorkerThread: false };
      Object.assign(config, { ...settings, colorSpace: { ...colorSpace, fullRange: false } });
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
  for await (const { data } of frames) {
    const sample = new VideoSample(data, {
      ...{ format: "RGBA", codedWidth: width, codedHeight: height },
      ...{ timestamp: count / FRAME_RATE, duration: 1 / FRAME_RATE },
    });
    count += 1;
    await pictures.add(sample);
    sample.close();
  }
  if (count !== length) throw new Error(`The clip has ${count} frames instead of ${length}`);
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
