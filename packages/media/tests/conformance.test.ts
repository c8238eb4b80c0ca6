/** The contract of all image and video generators: the local renderer and fal. */
import { readFile } from "node:fs/promises";
import { isAppError } from "@platform/endpoint/contract/app-error";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type FakeFal, startFakeFal } from "../../../tests/support/fakes/fal.ts";
import {
  createMediaFolder,
  drawScene,
  imageOrder,
  isEmpty,
  type MediaFolder,
  probes,
  videoOrder,
  waitingFor,
} from "../../../tests/support/fixtures/content.ts";
import { digest } from "../../../tests/support/fixtures/encoded-media.ts";
import { renderSettings } from "../../../tests/support/fixtures/renderer.ts";
import { decodeVideo } from "../../../tests/support/harness/decode.ts";
import { EmbeddedMedia } from "../src/adapters/embedded/provider.ts";
import { FalMedia } from "../src/adapters/fal/provider.ts";
import type { MediaFile, MediaProvider } from "../src/port.ts";

// Rendering has a low priority, so a server keeps answering; on a busy machine it waits.
vi.setConfig({ testTimeout: 240_000 });

let mediaFolder: MediaFolder;
let image: MediaFile;
let fal: FakeFal;
const never = new AbortController().signal;
const providers: Record<string, () => Promise<MediaProvider>> = {
  embedded: async () =>
    new EmbeddedMedia(await mediaFolder.folder(), renderSettings({ report: () => {} })),
  fal: async () =>
    new FalMedia({
      key: fal.key,
      probes,
      baseUrl: fal.origin,
      storageUrl: fal.origin,
      pollMs: 10,
      report: () => {},
    }),
};

beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  fal = await startFakeFal();
  image = await mediaFolder.put(
    "scene.png",
    "image/png",
    await drawScene("#7a2048", { x: 300, y: 150 }),
  );
});
afterAll(async () => {
  await fal?.close();
  await mediaFolder?.clear();
});

describe.each(Object.entries(providers))("%s", (name, create) => {
  let provider: ReturnType<typeof waitingFor>;
  beforeAll(async () => {
    provider = waitingFor(await create());
  });

  test("says its name", () => {
    expect(provider.name).toBe(name);
  });

  test("makes an MP4 of the asked shape, size and length, with sound when it is wanted", async () => {
    const order = videoOrder({ image, aspectRatio: "9:16", generateAudio: true });
    const folder = await mediaFolder.folder();
    const file = await provider.video(order, folder, never);
    if (isAppError(file)) throw new Error(file.message);
    expect(file.contentType).toBe("video/mp4");
    expect(file.path.startsWith(folder)).toBe(true);
    const video = await decodeVideo(file.path);
    expect(video).toMatchObject({ codec: "h264", width: 720, height: 1280, isFastStart: true });
    expect(video.seconds).toBeCloseTo(4, 1);
    expect(video.audio?.codec).toBe("aac");
  });

  test("makes as many images as were ordered, of the asked shape, and no two alike", async () => {
    const folder = await mediaFolder.folder();
    const order = imageOrder({ references: [image], count: 3, aspectRatio: "9:16" });
    const files = await provider.images(order, folder, never);
    if (isAppError(files)) throw new Error(files.message);
    const found = await Promise.all(
      files.map(async ({ path, contentType }) => {
        const { format, width, height } = await sharp(path).metadata();
        expect(`image/${format}`).toBe(contentType);
        expect(width / height).toBeCloseTo(9 / 16, 1);
        return digest(await readFile(path));
      }),
    );
    expect(new Set(found).size).toBe(3);
  });

  test("answers 400 for an input that cannot be used, and leaves nothing behind", async () => {
    const bad = await mediaFolder.put("bad.png", "image/png", Buffer.from("not an image"));
    const folder = await mediaFolder.folder();
    const outcome = await provider.video(videoOrder({ image: bad }), folder, never);
    expect(outcome).toMatchObject({ kind: "app-error", code: "invalid_request" });
    expect(await isEmpty(folder)).toBe(true);
  });

  test("does nothing for whom nobody waits any more, and leaves nothing behind", async () => {
    const folder = await mediaFolder.folder();
    const signal = AbortSignal.abort();
    expect(isAppError(await provider.video(videoOrder({ image }), folder, signal))).toBe(true);
    expect(isAppError(await provider.images(imageOrder({}), folder, signal))).toBe(true);
    expect(await isEmpty(folder)).toBe(true);
  });
});
