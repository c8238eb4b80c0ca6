/** Images that are rendered on this machine. */
import { readFile } from "node:fs/promises";
import { isAppError } from "@platform/endpoint/contract/app-error";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  createMediaFolder,
  drawScene,
  imageOrder,
  type MediaFolder,
} from "../../../tests/support/fixtures/content.ts";
import { digest } from "../../../tests/support/fixtures/encoded-media.ts";
import { createRenderer } from "../../../tests/support/fixtures/renderer.ts";
import type { ImageOrder } from "../src/port.ts";

// Rendering has a low priority, so a server keeps answering; on a busy machine it waits.
vi.setConfig({ testTimeout: 240_000 });

let mediaFolder: MediaFolder;
const provider = createRenderer({ report: (cause) => console.error(cause) });
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
});
afterAll(() => mediaFolder?.clear());

async function render(order: Partial<ImageOrder>): Promise<readonly string[]> {
  const folder = await mediaFolder.folder();
  const files = await provider.images(imageOrder(order), folder, new AbortController().signal);
  if (isAppError(files)) throw new Error(files.message);
  for (const { path, contentType } of files) {
    expect(`image/${(await sharp(path).metadata()).format}`).toBe(contentType);
  }
  return files.map(({ path }) => path);
}
const digests = async (paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => digest(await readFile(path))));

test("the same order makes the same images; another seed or prompt makes others", async () => {
  const [[one], [same], [seeded], [prompted]] = await Promise.all([
    render({}).then(digests),
    render({}).then(digests),
    render({ seed: 8 }).then(digests),
    render({ prompt: "Midnight sun" }).then(digests),
  ]);
  expect(same).toBe(one);
  expect(new Set([one, seeded, prompted]).size).toBe(3);
});

test("a reference gives shape and colours, and its part in the picture", async () => {
  const [red, blue] = await Promise.all(
    ["#a01818", "#1830a0"].map(async (sky) => {
      const bytes = await drawScene(sky, { x: 500, y: 160 });
      const reference = await mediaFolder.put(`${sky.slice(1)}.png`, "image/png", bytes);
      const [path] = await render({ references: [reference], aspectRatio: "auto" });
      return path ?? "";
    }),
  );
  expect(await sharp(red).metadata()).toMatchObject({ width: 1280, height: 720 });
  const colour = async (path = "") =>
    (await sharp(path).stats()).channels.map(({ mean }) => Math.round(mean));
  const [[warm = 0, , cold = 0], [lessWarm = 0, , colder = 0]] = [
    await colour(red),
    await colour(blue),
  ];
  expect(warm).toBeGreaterThan(lessWarm);
  expect(colder).toBeGreaterThan(cold);
});

test("a prompt of only signs, of markup, or of another script is accepted", async () => {
  for (const prompt of ["", "!!! ???", "<b>&amp;</b> \" ' <span foreground='red'>", "夜の雨 🌧️"]) {
    expect(await render({ prompt, seed: 1 })).toHaveLength(1);
  }
});

test("4k is 3840 by 2160", async () => {
  const [path] = await render({ resolution: "4k" });
  expect(await sharp(path).metadata()).toMatchObject({ width: 3840, height: 2160 });
});
