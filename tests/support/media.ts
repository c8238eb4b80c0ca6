/** Media for tests, made by an encoder that the product does not have: ffmpeg. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { path as ffmpeg } from "@ffmpeg-installer/ffmpeg";
import sharp from "sharp";
import type { GeneratedFile } from "../../lib/content/provider.ts";
import { createDiskStorage } from "../../lib/content/storage/disk.ts";
import { newMediaKey } from "../../lib/content/storage/media-name.ts";
import { setting, sql, stack } from "./stack.ts";
import { insertRun, plainRun } from "./task-runs.ts";

/** An image of one colour. */
export const makeImage = (format: "png" | "jpeg" | "webp" | "gif" = "png"): Promise<Buffer> =>
  sharp({ create: { width: 320, height: 180, channels: 3, background: "#3366cc" } })
    .toFormat(format)
    .toBuffer();

const PICTURE = ["-f", "lavfi", "-i", "testsrc=size=320x180:rate=12"];
const TONE = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"];
const H264 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast"];

/** MP4 of the given length. */
export const makeVideo = (seconds: number): Promise<Buffer> =>
  encode("mp4", seconds, [...PICTURE, ...H264]);
/** MP4 with a picture and a tone. */
export const makeVideoWithSound = (seconds: number): Promise<Buffer> =>
  encode("mp4", seconds, [...PICTURE, ...TONE, ...H264, "-c:a", "aac"]);
/** A second of video, encoded as the options say. */
export const makeVideoAs = (extension: "mp4" | "mov" | "webm", size: string, options: string[]) =>
  encode(extension, 1, ["-f", "lavfi", "-i", `testsrc=size=${size}:rate=24`, ...options]);
export const makeSound = (format: "mp3" | "wav" | "ogg" | "flac" | "m4a" | "aac", seconds = 1) =>
  encode(format, seconds, TONE);

async function encode(extension: string, seconds: number, options: string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "agent-platform-media-"));
  try {
    const file = join(folder, `made.${extension}`);
    const all = ["-loglevel", "error", ...options, "-t", String(seconds), file];
    await promisify(execFile)(ffmpeg, all);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The disk storage of the server that all tests share. */
export const sharedStorage = createDiskStorage({
  folder: join(setting("DATA_DIR"), "media"),
  origin: stack.url,
});

/** Puts bytes where a generated file would be, and gives their URL. */
export async function storeMedia(
  accountId: string,
  bytes: Uint8Array,
  contentType: GeneratedFile["contentType"],
  storage = sharedStorage,
): Promise<string> {
  const folder = await mkdtemp(join(setting("DATA_DIR"), "test-media-"));
  const path = join(folder, "file");
  await writeFile(path, bytes);
  const url = await storage.store(newMediaKey(accountId, contentType), { path, contentType });
  await rm(folder, { recursive: true });
  return url;
}

/** As `storeMedia`, for an account that exists, with the completed run that made the file. */
export async function makeMedia(
  accountId: string,
  bytes: Uint8Array,
  contentType: GeneratedFile["contentType"],
): Promise<string> {
  const url = await storeMedia(accountId, bytes, contentType);
  const run = plainRun(accountId, { status: "COMPLETED", output: { imageUrl: url } });
  await insertRun(accountId, run);
  await sql`insert into media_files (account_id, name, run_id, bytes)
    values (${accountId}, ${url.split("/").at(-1) ?? ""}, ${run.id}, ${bytes.byteLength})`;
  return url;
}

/** Bytes that count for the account. */
export async function mediaBytesOf(accountId: string): Promise<number> {
  const [row] = await sql`select bytes from media_usage where account_id = ${accountId}`;
  return Number(row?.bytes ?? 0);
}

export const digest = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");
