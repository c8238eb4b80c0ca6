/** `extend` takes every video that the service has made itself. The soak does so many times over. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type MediaFile, VIDEO_MODES, type VideoMode } from "../../../lib/content/port.ts";
import { createMediaFolder, type MediaFolder } from "../../support/fixtures/content.ts";
import { renderEveryMode, renderVideo } from "../../support/fixtures/own-videos.ts";
import { decodeVideo } from "../../support/harness/decode.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let mediaFolder: MediaFolder;
let videos: Readonly<Record<VideoMode, MediaFile>>;
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  videos = await renderEveryMode(mediaFolder);
});
afterAll(() => mediaFolder?.clear());

test.each(VIDEO_MODES)("twice at once: a video of mode %s", async (mode) => {
  const { frames } = await decodeVideo(videos[mode].path);
  const rounds = Array.from({ length: 2 }, async () =>
    renderVideo(mediaFolder, { mode: "extend", video: videos[mode], seconds: 0.5 }),
  );
  for (const path of await Promise.all(rounds)) {
    expect((await decodeVideo(path)).frames).toBe(frames + 12);
  }
});
