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
