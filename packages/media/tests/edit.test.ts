/** Edits of finished videos, as another decoder sees them. */

import { isAppError } from "@platform/endpoint/contract/app-error";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  createMediaFolder,
  drawScene,
  type MediaFolder,
  videoOrder,
} from "../../../tests/support/fixtures/content.ts";
import { makeSound, makeVideo } from "../../../tests/support/fixtures/encoded-media.ts";
import { renderVideo } from "../../../tests/support/fixtures/own-videos.ts";
import { renderSettings } from "../../../tests/support/fixtures/renderer.ts";
import {
  decodeFrames,
  decodeVideo,
  difference,
  measureVolume,
} from "../../../tests/support/harness/decode.ts";
import { render } from "../src/adapters/embedded/render-process.ts";
import type { EditStep, MediaFile } from "../src/port.ts";

// Rendering has a low priority, so a server keeps answering; on a busy machine it waits.
vi.setConfig({ testTimeout: 240_000 });

let mediaFolder: MediaFolder;
let image: MediaFile;
let song: MediaFile;
/** The source of all edits: one second. */
let rendered: string;
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  image = await mediaFolder.put(
    "scene.png",
    "image/png",
    await drawScene("#444", { x: 480, y: 170 }),
  );
  song = await mediaFolder.put("song.mp3", "audio/mpeg", await makeSound("mp3", 4));
  rendered = await renderVideo(mediaFolder, { image, seconds: 1, generateAudio: true });
});
afterAll(() => mediaFolder?.clear());

const { accountId } = videoOrder({});
const { signal } = new AbortController();

/** Returns the path of the edited video; null if it could not be edited, for the reported causes. */
async function edit(video: string, steps: readonly EditStep[], causes: string[] = []) {
  const folder = await mediaFolder.folder();
  const settings = renderSettings({ report: (cause) => causes.push(cause) });
  const input = { path: video, contentType: "video/mp4", url: "" };
  const request = { op: "edit", video: input, steps } as const;
  const files = await render(accountId, request, folder, signal, settings);
  return isAppError(files) ? null : (files[0]?.path ?? null);
}

async function edited(...steps: EditStep[]): Promise<string> {
  const causes: string[] = [];
  const path = await edit(rendered, steps, causes);
  if (path === null) throw new Error(causes.join("; "));
  return path;
}

describe("a generated video", () => {
  test("is trimmed, with its audio", async () => {
    const path = await edited({ kind: "trim", start: 0.25, seconds: 0.5 });
    const video = await decodeVideo(path);
    expect(video).toMatchObject({ frames: 12, width: 1280, height: 720 });
    expect(video.seconds).toBeCloseTo(0.5, 1);
  });

  test("stays as it is when it would be trimmed away", async () => {
    expect(await decodeVideo(await edited({ kind: "trim", start: 9 }))).toMatchObject({
      frames: 24,
    });
  });

  test.each<[EditStep, number, number]>([
    [{ kind: "frame", aspect: 1 }, 720, 720],
    [{ kind: "frame", aspect: 9 / 16, width: 360, height: 640 }, 360, 640],
    [{ kind: "frame", width: 320 }, 320, 180],
    [{ kind: "frame", aspect: 1, height: 400 }, 400, 400],
  ])("is cropped and scaled: %o", async (step, width, height) => {
    expect(await decodeVideo(await edited(step))).toMatchObject({ width, height, frames: 24 });
  });

  test("has a text for as long as is said, and nowhere else", async () => {
    const color = "#ff0000";
    const text = {
      kind: "text",
      content: "out on the 4th <now>",
      color,
      strokeColor: "#ffffff",
    } as const;
    const plain = await decodeFrames(await edited());
    const frames = await decodeFrames(
      await edited({ ...text, start: 0.25, seconds: 0.5, maxFontSize: 120 }),
    );
    for (const at of [0, 5, 18, 23]) expect(difference(frames[at], plain[at])).toBeLessThan(1);
    for (const at of [6, 12, 17]) expect(difference(frames[at], plain[at])).toBeGreaterThan(3);
  });

  test("has audio over its own, or instead of it, from the second that is said", async () => {
    const audio = { kind: "audio", audio: song, start: 3.5 } as const;
    const replaced = await measureVolume(await edited({ ...audio, replace: true }), 0.25);
    const mixed = await measureVolume(await edited({ ...audio, replace: false }), 0.25);
    // Half a second of the song is left; after it there is silence, or the video's own tone.
    expect(replaced[0]).toBeGreaterThan(0.04);
    expect(replaced[3]).toBeLessThan(0.001);
    expect(mixed[0]).toBeGreaterThan(replaced[0] ?? 0);
    expect(mixed[2]).toBeGreaterThan(0.01);
  });

  test("sees what the step before has made", async () => {
    const path = await edited(
      { kind: "trim", start: 0.5 },
      { kind: "frame", aspect: 1, width: 256, height: 256 },
      { kind: "text", content: "now", start: 0, seconds: 0.25 },
    );
    expect(await decodeVideo(path)).toMatchObject({ frames: 12, width: 256, height: 256 });
    const frames = await decodeFrames(path);
    expect(difference(frames[0], frames[11])).toBeGreaterThan(1);
  });

  test("of another encoder is edited like the renderer's own", async () => {
    const video = await mediaFolder.put("hosted.mp4", "video/mp4", await makeVideo(2));
    const path = await edit(video.path, [
      { kind: "trim", start: 0.5, seconds: 1 },
      { kind: "frame", aspect: 1, width: 480, height: 480 },
    ]);
    expect(await decodeVideo(path ?? "")).toMatchObject({ frames: 24, width: 480, height: 480 });
  });

  test("stays as it is when its edit fails: it was paid for", async () => {
    const noise = Buffer.from("ID3 is all there is");
    const broken = await mediaFolder.put("broken.mp3", "audio/mpeg", noise);
    const video = await mediaFolder.put("whole.mp4", "video/mp4", await makeVideo(1));
    const causes: string[] = [];
    const audio = { kind: "audio", audio: broken, start: 0, replace: true } as const;
    expect(await edit(video.path, [audio], causes)).toBeNull();
    expect(causes).toEqual([expect.stringMatching(/^edit: /)]);
  });
});
