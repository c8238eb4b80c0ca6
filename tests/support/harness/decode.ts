/** What is in a media file, as ffmpeg sees it: a decoder that shares no code with the renderer. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { path as ffmpeg } from "@ffmpeg-installer/ffmpeg";

const run = promisify(execFile);
const MAX_OUTPUT = 512 * 1024 * 1024;

/** Every picture is looked at in this size, one byte a pixel. */
const FRAME_SIZE = { width: 160, height: 90 } as const;

export interface DecodedVideo {
  readonly codec: string;
  readonly pixelFormat: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  /** Frames that decode. */
  readonly frames: number;
  /** Of the longest track. */
  readonly seconds: number;
  readonly audio: { readonly codec: string; readonly rate: number } | null;
  /** Plays while it is still loading: its index stands before its content. */
  readonly isFastStart: boolean;
}

export async function decodeVideo(path: string): Promise<DecodedVideo> {
  // A file that does not decode without a complaint is an error here.
  const { stderr } = await run(ffmpeg, [
    ...["-hide_banner", "-nostats", "-xerror", "-i", path],
    ...["-map", "0", "-f", "null", "-"],
  ]);
  const read = (pattern: RegExp): string[] => pattern.exec(stderr)?.slice(1) ?? [];
  const [hours, minutes, seconds] = read(/Duration: (\d+):(\d+):([\d.]+)/).map(Number);
  const [codec = "", pixelFormat = "", width, height] = read(
    /Stream #0:\d+.*?: Video: (\w+).*?, (yuv\w+(?:\([^)]*\))?).*?, (\d+)x(\d+)/,
  );
  const [audioCodec, rate] = read(/Stream #0:\d+.*?: Audio: (\w+).*?, (\d+) Hz/);
  const frames = [...stderr.matchAll(/frame=\s*(\d+)/g)].at(-1)?.[1];
  const atoms = (await readFile(path)).toString("latin1");
  return {
    codec,
    pixelFormat,
    width: Number(width),
    height: Number(height),
    frameRate: Number(read(/, ([\d.]+) fps/)[0]),
    frames: Number(frames),
    seconds: (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0),
    audio: audioCodec ? { codec: audioCodec, rate: Number(rate) } : null,
    isFastStart: atoms.indexOf("moov") < atoms.indexOf("mdat"),
  };
}

/** The pictures of a video, or the one of an image, small and grey: by way of RGB, as a screen shows them. */
export async function decodeFrames(path: string): Promise<readonly Uint8Array[]> {
  const { width, height } = FRAME_SIZE;
  const { stdout } = await run(
    ffmpeg,
    [
      ...["-loglevel", "error", "-i", path, "-vsync", "0"],
      // Cut to the shape that the renderer cuts to, from the middle.
      ...[
        "-vf",
        `scale=${width}:${height}:force_original_aspect_ratio=increase:flags=area,crop=${width}:${height}`,
      ],
      ...["-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
    ],
    { encoding: "buffer", maxBuffer: MAX_OUTPUT },
  );
  const size = width * height;
  return Array.from({ length: stdout.length / size / 3 }, (_, at) => {
    const rgb = stdout.subarray(at * size * 3, (at + 1) * size * 3);
    return Uint8Array.from({ length: size }, (_, pixel) => {
      const [red = 0, green = 0, blue = 0] = rgb.subarray(pixel * 3, pixel * 3 + 3);
      return (red + green + blue) / 3;
    });
  });
}

/** How far apart two pictures are: the mean difference of their pixels, 0 to 255. */
export function difference(one: Uint8Array | undefined, other: Uint8Array | undefined): number {
  if (!one || !other) throw new Error("There is no such picture");
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += Math.abs((one[at] ?? 0) - (other[at] ?? 0));
  return sum / one.length;
}

/** The root mean square of a file's sound, 0 to 1, in pieces of so many seconds. */
export async function measureVolume(path: string, piece: number): Promise<readonly number[]> {
  const rate = 8000;
  const { stdout } = await run(
    ffmpeg,
    ["-loglevel", "error", "-i", path, "-ac", "1", "-ar", String(rate), "-f", "f32le", "-"],
    { encoding: "buffer", maxBuffer: MAX_OUTPUT },
  );
  const length = piece * rate;
  return Array.from({ length: Math.floor(stdout.length / 4 / length) }, (_, at) => {
    let sum = 0;
    for (let sample = 0; sample < length; sample++) {
      sum += stdout.readFloatLE(4 * (at * length + sample)) ** 2;
    }
    return Math.sqrt(sum / length);
  });
}
