/** The parts of a caller's file that the server reads itself: its container, and nothing encoded in it. */
import { open, truncate } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createMediaFolder,
  type MediaFolder,
  makeSpeech,
  probes,
} from "../../../tests/support/fixtures/content.ts";
import {
  makeImage,
  makeSound,
  makeVideo,
  makeVideoAs,
  makeVideoWithSound,
} from "../../../tests/support/fixtures/encoded-media.ts";
import { probeMedia } from "../src/probe-media.ts";

let mediaFolder: MediaFolder;
const never = new AbortController().signal;
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
});
afterAll(() => mediaFolder?.clear());

async function probe(bytes: Uint8Array, signal = never) {
  const { path } = await mediaFolder.put("file.txt", "text/plain", bytes);
  return probeMedia(probes, path, "account", signal);
}

describe("a probe", () => {
  test("tells what a file holds by its content", async () => {
    expect(await probe(await makeImage("webp"))).toEqual({
      kind: "image",
      width: 320,
      height: 180,
    });
    const video = { kind: "video", seconds: 2, width: 320, height: 180 };
    expect(await probe(await makeVideo(2))).toEqual({ ...video, hasAudio: false });
    expect(await probe(await makeVideoWithSound(2))).toMatchObject({ ...video, hasAudio: true });
    const webm = await makeVideoAs("webm", "64x64", ["-c:v", "libvpx"]);
    expect(await probe(webm)).toMatchObject({ kind: "video", seconds: expect.closeTo(0.5, 1) });
  });

  test.each(["mp3", "m4a", "ogg", "flac", "aac", "wav"] as const)(
    "tells how long %s is",
    async (format) => {
      expect(await probe(await makeSound(format, 2))).toEqual({
        ...{ kind: "audio", hasAudio: true, seconds: expect.closeTo(2, 0) },
      });
    },
  );

  test.each<[string, () => Promise<Uint8Array>]>([
    ["nothing", async () => Buffer.alloc(0)],
    ["text", async () => Buffer.from("not media at all")],
    [
      "a playlist, which refers to other files",
      async () => Buffer.from("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n"),
    ],
    ["a container that is cut short", async () => (await makeVideo(1)).subarray(0, 400)],
    ["the head of an image alone", async () => (await makeImage()).subarray(0, 12)],
    ["a WAV of no sample rate", async () => makeSpeech(1).fill(0, 24, 32)],
  ])("is null for %s", async (_, make) => {
    expect(await probe(await make())).toBeNull();
  });

  test("is null when nobody waits any more", async () => {
    expect(await probe(await makeVideo(1), AbortSignal.abort())).toBeNull();
  });

  test("reads a container of many boxes, and does not run on where it ends nowhere", async () => {
    const { path } = await mediaFolder.put("boxes.mp4", "video/mp4", await makeVideo(1));
    const file = await open(path, "a");
    const box = Buffer.alloc(8);
    box.writeUInt32BE(8, 0);
    box.write("free", 4, "latin1");
    await file.appendFile(Buffer.concat(Array.from({ length: 200_000 }, () => box)));
    await file.close();
    expect(await probeMedia(probes, path, "account", never)).toMatchObject({
      kind: "video",
      seconds: 1,
    });
    // A size of nothing means: up to the end of the file.
    await truncate(path, 64);
    expect(await probeMedia(probes, path, "account", never)).toBeNull();
  });
});
