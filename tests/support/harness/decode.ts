/** Decodes a media file with ffmpeg, which shares no code with the renderer. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { path as ffmpeg } from "@ffmpeg-installer/ffmpeg";

const run = promisify(execFile);

/** Returns what ffmpeg makes of a file, as raw bytes. */
async function decode(path: string, ...options: string[]): Promise<Buffer> {
  const { stdout } = await run(ffmpeg, ["-loglevel", "error", "-i", path, ...options, "-"], {
    encoding: "buffer",
    maxBuffer: 512 * 1024 * 1024,
  });
  return stdout;
}

/** Every picture is looked at in this size, one byte a pixel. */
const FRAME_SIZE = { width: 160, height: 90 } as const;

export async function decodeVideo(path: string) {
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
    /** How many frames decode. */
    frames: Number(frames),
    /** Of the longest track. */
    seconds: (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0),
    audio: audioCodec ? { codec: audioCodec, rate: Number(rate) } : null,
    /** Whether it plays while it is still loading: its index stands before its content. */
    isFastStart: atoms.indexOf("moov") < atoms.indexOf("mdat"),
  };
}

/** The pictures of a video, or the one of an image, small and grey: by way of RGB, as a screen shows them. */
export async function decodeFrames(path: string): Promise<readonly Uint8Array[]> {
  const { width, height } = FRAME_SIZE;
  // Cut to the shape that the renderer cuts to, from the middle.
  const scale = `scale=${width}:${height}:force_original_aspect_ratio=increase:flags=area`;
  const filter = ["-vsync", "0", "-vf", `${scale},crop=${width}:${height}`];
  const frames = await decode(path, ...filter, "-f", "rawvideo", "-pix_fmt", "rgb24");
  const size = width * height;
  return Array.from({ length: frames.length / size / 3 }, (_, at) => {
    const rgb = frames.subarray(at * size * 3, (at + 1) * size * 3);
    const grey = new Uint8Array(size);
    for (let pixel = 0; pixel < size; pixel++) {
      const [red = 0, green = 0, blue = 0] = [
        rgb[pixel * 3],
        rgb[pixel * 3 + 1],
        rgb[pixel * 3 + 2],
      ];
      grey[pixel] = (red + green + blue) / 3;
    }
    return grey;
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
  const samples = await decode(path, "-ac", "1", "-ar", String(rate), "-f", "f32le");
  const length = piece * rate;
  return Array.from({ length: Math.floor(samples.length / 4 / length) }, (_, at) => {
    let sum = 0;
    for (let sample = 0; sample < length; sample++) {
      sum += samples.readFloatLE(4 * (at * length + sample)) ** 2;
    }
    return Math.sqrt(sum / length);
  });
}
