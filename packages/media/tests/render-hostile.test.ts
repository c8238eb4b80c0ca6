/**
 * Hostile files for the decoders of this machine: each costs its sender an answer, and the server a
 * child process.
 */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  createMediaFolder,
  drawScene,
  isEmpty,
  type MediaFolder,
  makeSpeech,
  makeWav,
  probes,
  videoOrder,
} from "../../../tests/support/fixtures/content.ts";
import {
  makeImage,
  makeVideo,
  makeVideoAs,
} from "../../../tests/support/fixtures/encoded-media.ts";
import { createRenderer } from "../../../tests/support/fixtures/renderer.ts";
import { findConfined, listConfined } from "../../../tests/support/harness/confined.ts";
import type { MediaFile, VideoOrder } from "../src/port.ts";
import { probeMedia } from "../src/probe-media.ts";

// Rendering has a low priority, so a server keeps answering; on a busy machine it waits.
vi.setConfig({ testTimeout: 240_000 });

let mediaFolder: MediaFolder;
let image: MediaFile;
const never = new AbortController().signal;
const provider = createRenderer({ report: () => {} });
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  image = await mediaFolder.put(
    "scene.png",
    "image/png",
    await drawScene("#444", { x: 200, y: 100 }),
  );
});
afterAll(() => mediaFolder?.clear());

/** The renderer of this file's inputs. */
const findChild = () => findConfined("render/main.", dirname(image.path));

/** The error of an order, and proof that it left nothing behind. */
async function fail(
  order: Partial<VideoOrder>,
  by = provider,
  signal: AbortSignal = never,
): Promise<AppError> {
  const folder = await mediaFolder.folder();
  const outcome = await by.video(videoOrder(order), folder, signal);
  expect(await isEmpty(folder)).toBe(true);
  if (!isAppError(outcome)) throw new Error("It was rendered");
  return outcome;
}

/** A PNG of one bit a pixel, and of more pixels than anyone can see. */
function makeBomb(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1;
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", rows),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const badImages: readonly [string, () => Promise<Uint8Array>][] = [
  ["a decompression bomb", async () => makeBomb(12_000)],
  ["a PNG that is cut short", async () => (await makeImage()).subarray(0, 300)],
  ["a JPEG that is cut short", async () => (await makeImage("jpeg")).subarray(0, 400)],
  ["text", async () => Buffer.from("not an image at all")],
  ["nothing", async () => Buffer.alloc(0)],
];

describe("an image that is", () => {
  test.each(badImages)("%s is refused as such", async (_, make) => {
    const bad = await mediaFolder.put("bad.png", "image/png", await make());
    expect(await fail({ image: bad })).toMatchObject({
      code: "invalid_request",
      message: "image_url cannot be read as an image",
    });
  });

  test("a vector graphic with references is refused, and nothing that it names is fetched", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/x`;
    const graphic = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">
      <!ENTITY y SYSTEM "${url}">]><svg xmlns="http://www.w3.org/2000/svg" width="99" height="99">
      <text y="20">&x;&y;</text><image href="${url}" width="9" height="9"/></svg>`;
    const bad = await mediaFolder.put("bad.svg", "image/svg+xml", Buffer.from(graphic));
    expect(await fail({ image: bad })).toMatchObject({ code: "invalid_request" });
    expect(await probeMedia(probes, bad.path, "account", never)).toBeNull();
    expect(requests).toBe(0);
    server.close();
  });
});

describe("a video that is", () => {
  const badVideos: readonly [string, () => Promise<Uint8Array>][] = [
    ["text", async () => Buffer.from("not a video")],
    ["cut short", async () => cut(await makeVideo(4), 0.5)],
    ["made of noise behind its head", async () => spoil(await makeVideo(4))],
    [
      "of more than 8 bits",
      () => makeVideoAs("webm", "320x180", ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p10le"]),
    ],
    ["an image", () => makeImage()],
    ["only sound", async () => makeSpeech(1)],
  ];
  test.each(badVideos)("%s cannot be extended", async (_, make) => {
    const video = await mediaFolder.put("bad.mp4", "video/mp4", await make());
    expect(await fail({ mode: "extend", video, seconds: 7 })).toMatchObject({
      code: "invalid_request",
    });
  });

  test("too long cannot be extended", async () => {
    const video = await mediaFolder.put("long.mp4", "video/mp4", await makeVideo(12));
    expect(await fail({ mode: "extend", video, seconds: 7 })).toMatchObject({
      message: "video_url must be at most 8 seconds",
    });
  });
});

const cut = (bytes: Buffer, share: number) => bytes.subarray(0, Math.floor(bytes.length * share));

/** Its index is correct, but the samples are missing. */
function spoil(bytes: Buffer): Buffer {
  const start = bytes.indexOf("mdat") + 4;
  const end = bytes.lastIndexOf("moov") > start ? bytes.lastIndexOf("moov") - 4 : bytes.length;
  return Buffer.from(
    bytes.map((byte, at) => (at > start + 64 && at < end ? (at * 151) % 256 : byte)),
  );
}

describe("audio that is", () => {
  test("longer than a minute, whatever its head says, is refused", async () => {
    const samples = Buffer.alloc(90 * 8000, 128);
    const endless = makeWav(samples, 8000, 8, 0xffffffff);
    for (const bytes of [endless, makeWav(samples, 8000, 8, samples.length)]) {
      const audio = await mediaFolder.put("endless.wav", "audio/wav", bytes);
      expect(await fail({ mode: "lipsync", image, audio })).toMatchObject({
        message: "audio_url must be at most 60 seconds",
      });
    }
  });

  test.each([
    ["text", Buffer.from("not a sound")],
    ["a WAV without samples", makeWav(Buffer.alloc(0), 8000, 8, 0)],
    ["a WAV of no sample rate", makeWav(Buffer.alloc(100), 0, 8, 100)],
  ])("%s is refused", async (_, bytes) => {
    const audio = await mediaFolder.put("bad.wav", "audio/wav", bytes);
    expect(await fail({ mode: "lipsync", image, audio })).toMatchObject({
      code: "invalid_request",
    });
  });
});

describe("a rendering", () => {
  test("that takes too long ends at its deadline", async () => {
    const hurried = createRenderer({ timeoutMs: 50, report: () => {} });
    const outcome = await fail({ image, resolution: "4k", seconds: 8 }, hurried);
    expect(outcome).toMatchObject({ code: "upstream_timeout", message: "Video generation failed" });
  });

  test.runIf(process.platform === "linux")("that nobody waits for any more ends", async () => {
    const controller = new AbortController();
    const failing = fail({ image, resolution: "4k", seconds: 8 }, provider, controller.signal);
    await findChild();
    controller.abort();
    expect(await failing).toMatchObject({ code: "upstream_error" });
    // The error arrives only when the child has ended.
    expect(await listConfined("render/main.", dirname(image.path))).toEqual([]);
  });

  test.runIf(process.platform === "linux")(
    "whose decoder crashes is a failed generation, and the server goes on",
    async () => {
      const failing = fail({ image, resolution: "4k", seconds: 8 });
      // The first process of a namespace ignores every other signal from outside.
      process.kill(await findChild(), "SIGKILL");
      expect(await failing).toMatchObject({
        code: "upstream_error",
        message: "Video generation failed",
      });
    },
  );

  test("may read nothing but its code and its inputs", async () => {
    const secret = await mediaFolder.put("secret.png", "image/png", await makeImage());
    const link = await mediaFolder.put("innocent.png", "image/png", await makeImage());
    await writeFile(link.path, await readFile(secret.path));
    // The order names another file than the one the child may read.
    const order = videoOrder({ image: { ...link, path: secret.path } });
    const strange = {
      ...order,
      image: Object.defineProperty({ ...link }, "path", pathOnce(link.path, secret.path)),
    };
    const folder = await mediaFolder.folder();
    const outcome = await provider.video(strange, folder, never);
    expect(outcome).toMatchObject({ code: "upstream_error" });
    expect(await isEmpty(folder)).toBe(true);
  });
});

/** One path when it is asked for the first time, another from then on. */
function pathOnce(first: string, then: string): PropertyDescriptor {
  let asked = 0;
  return { enumerable: true, get: () => (asked++ === 0 ? first : then) };
}
