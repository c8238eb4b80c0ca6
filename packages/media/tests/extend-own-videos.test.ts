/** `extend` takes every video that the service has made itself. The soak does so many times over. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createMediaFolder, type MediaFolder } from "../../../tests/support/fixtures/content.ts";
import { renderEveryMode, renderVideo } from "../../../tests/support/fixtures/own-videos.ts";
import { decodeVideo } from "../../../tests/support/harness/decode.ts";
import { type MediaFile, VIDEO_MODES, type VideoMode } from "../src/port.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let mediaFolder: MediaFolder;
let videos: Readonly<Record<VideoMode, MediaFile>>;
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  videos = await renderEveryMode(mediaFolder);
});
afterAll(() => mediaFolder?.clear());

test("a video of each mode, all of them at once", async () => {
  await Promise.all(
    VIDEO_MODES.map(async (mode) => {
      const { frames } = await decodeVideo(videos[mode].path);
      const order = { mode: "extend", video: videos[mode], seconds: 0.5 } as const;
      const extended = await decodeVideo(await renderVideo(mediaFolder, order));
      expect([mode, extended.frames]).toEqual([mode, frames + 12]);
    }),
  );
});
