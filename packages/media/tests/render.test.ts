/** Videos that are rendered on this machine, mode by mode, as another decoder sees them. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  createMediaFolder,
  drawScene,
  type MediaFolder,
  makeSpeech,
} from "../../../tests/support/fixtures/content.ts";
import {
  makeVideoAs,
  makeVideoWithHiddenPackets,
  makeVideoWithSound,
} from "../../../tests/support/fixtures/encoded-media.ts";
import { renderVideo } from "../../../tests/support/fixtures/own-videos.ts";
import {
  decodeFrames,
  decodeVideo,
  difference,
  measureVolume,
} from "../../../tests/support/harness/decode.ts";
import type { MediaFile, VideoOrder } from "../src/port.ts";

/** The maximum for two pictures of the same content, one of them through the encoder. */
const SAME = 4;
/** The minimum for two pictures in which something has clearly moved. */
const OTHER = 8;

// Rendering has a low priority, so a server keeps answering; on a busy machine it waits.
vi.setConfig({ testTimeout: 240_000 });

let mediaFolder: MediaFolder;
let dusk: MediaFile;
let dawn: MediaFile;

beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  dusk = await mediaFolder.put(
    "dusk.png",
    "image/png",
    await drawScene("#7a2048", { x: 540, y: 170 }),
  );
  dawn = await mediaFolder.put(
    "dawn.png",
    "image/png",
    await drawScene("#9fd6d2", { x: 240, y: 120 }),
  );
});
afterAll(() => mediaFolder?.clear());

const render = (order: Partial<VideoOrder>) => renderVideo(mediaFolder, order);

const h264 = {
  codec: "h264",
  pixelFormat: expect.stringMatching(/^yuv420p.tv/),
  frameRate: 24,
  isFastStart: true,
};

describe("a video that is rendered here", () => {
  test("shows the still image, with a quiet tone", async () => {
    const path = await render({ image: dusk, seconds: 1, generateAudio: true });
    const video = await decodeVideo(path);
    expect(video).toMatchObject({ ...h264, width: 1280, height: 720, frames: 24 });
    expect(video.audio).toEqual({ codec: "aac", rate: 48_000 });
    expect(video.seconds).toBeCloseTo(1, 1);
    const [image] = await decodeFrames(dusk.path);
    const frames = await decodeFrames(path);
    expect(difference(frames[0], image)).toBeLessThan(SAME);
    expect(difference(frames[23], image)).toBeLessThan(SAME);
    expect(Math.max(...(await measureVolume(path, 0.5)))).toBeGreaterThan(0.01);
  });

  test("follows a prompt in its own shape, and is silent when no sound is wanted", async () => {
    const order = { mode: "prompt", image: dusk, prompt: "over the hills" } as const;
    const path = await render({ ...order, aspectRatio: "9:16", seconds: 1 });
    const video = await decodeVideo(path);
    expect(video).toMatchObject({ ...h264, width: 720, height: 1280, frames: 24, audio: null });
  });

  test("extends a video: its own frames and sound, and another second of its last frame", async () => {
    const given = await mediaFolder.put("given.mp4", "video/mp4", await makeVideoWithSound(1));
    const path = await render({ mode: "extend", video: given, seconds: 1 });
    const video = await decodeVideo(path);
    expect(video).toMatchObject({ ...h264, width: 1280, height: 720, frames: 48 });
    expect(video.audio).toEqual({ codec: "aac", rate: 48_000 });
    const input = await decodeFrames(given.path);
    const frames = await decodeFrames(path);
    // Twelve frames a second there, twice as many here.
    expect(difference(frames[1], input[0])).toBeLessThan(OTHER);
    expect(difference(frames[13], input[6])).toBeLessThan(OTHER);
    expect(difference(frames[23], input[11])).toBeLessThan(OTHER);
    expect(difference(frames[24], frames[23])).toBeLessThan(2);
    expect(difference(frames[47], frames[23])).toBeLessThan(OTHER);
    const loud = await measureVolume(path, 0.5);
    expect(loud[0]).toBeGreaterThan(0.01);
    expect(loud[3]).toBeLessThan(0.001);
  });

  const h264As = (...options: string[]) => ["-c:v", "libx264", ...options];
  const sideways = ["-pix_fmt", "yuv420p", "-metadata:s:v:0", "rotate=90"];
  const vp9 = ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p"];
  const reordered = h264As("-bf", "3", "-pix_fmt", "yuv420p");
  test.each<[string, number, () => Promise<Buffer>]>([
    ["turned on its side", 12, () => makeVideoAs("mp4", "320x180", sideways)],
    ["of odd sides, in WebM", 12, () => makeVideoAs("webm", "321x179", vp9)],
    ["in VP8, with packets that are never shown", 24, makeVideoWithHiddenPackets],
    ["with frames out of order", 12, () => makeVideoAs("mp4", "320x180", reordered)],
    ["of full range", 12, () => makeVideoAs("mov", "320x180", h264As("-pix_fmt", "yuvj420p"))],
    ["of full colour", 12, () => makeVideoAs("mp4", "320x180", h264As("-pix_fmt", "yuv444p"))],
  ])("extends a video %s as it is meant to be seen", async (_, length, make) => {
    const given = await mediaFolder.put("given", "video/mp4", await make());
    const order = { mode: "extend", video: given, aspectRatio: "auto" } as const;
    const frames = await decodeFrames(await render({ ...order, seconds: 0.25 }));
    const input = await decodeFrames(given.path);
    expect(input).toHaveLength(length);
    expect(frames).toHaveLength(length + 6);
    for (const at of [2, 6, 11]) expect(difference(frames[at], input[at])).toBeLessThan(OTHER);
  });

  test("leads from exactly the one image to exactly the other", async () => {
    const path = await render({ mode: "first-last", image: dusk, endImage: dawn, seconds: 1 });
    expect(await decodeVideo(path)).toMatchObject({
      ...h264,
      width: 1280,
      height: 720,
      frames: 24,
    });
    const [[first], [last], frames] = [
      await decodeFrames(dusk.path),
      await decodeFrames(dawn.path),
      await decodeFrames(path),
    ];
    expect(difference(frames[0], first)).toBeLessThan(SAME);
    expect(difference(frames[23], last)).toBeLessThan(SAME);
    expect(difference(frames[11], first)).toBeLessThan(SAME);
    expect(difference(frames[12], last)).toBeLessThan(SAME);
  });

  test("gives an image the audio, at the length of the audio", async () => {
    const audio = await mediaFolder.put("speech.wav", "audio/wav", makeSpeech(1));
    const path = await render({ mode: "lipsync", image: dusk, audio });
    const video = await decodeVideo(path);
    expect(video).toMatchObject({ ...h264, width: 1280, height: 720, frames: 24 });
    expect(video.audio).toEqual({ codec: "aac", rate: 48_000 });
    expect(
      difference((await decodeFrames(path))[0], (await decodeFrames(dusk.path))[0]),
    ).toBeLessThan(OTHER);
    const loud = await measureVolume(path, 0.25);
    expect(loud[0]).toBeGreaterThan(0.1);
    expect(loud[3]).toBeLessThan(0.01);
  });

  test("is the same for the same seed, whenever it is made", async () => {
    const order = { image: dusk, seconds: 0.5, aspectRatio: "auto" } as const;
    const [one, other] = [await render(order), await render(order)];
    const [these, those] = [await decodeFrames(one), await decodeFrames(other)];
    expect(difference(these[10], those[10])).toBe(0);
  });
});
