/** `extend` on the service's own videos, fifty times for each mode, on a machine with too much to do. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { type MediaFile, VIDEO_MODES, type VideoMode } from "@platform/media/port";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMediaFolder, type MediaFolder } from "../support/fixtures/content.ts";
import { renderEveryMode, renderVideo } from "../support/fixtures/own-videos.ts";
import { decodeVideo } from "../support/harness/decode.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 50);
const HOUR_MS = 3_600_000;

let mediaFolder: MediaFolder;
let videos: Readonly<Record<VideoMode, MediaFile>>;
beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  videos = await renderEveryMode(mediaFolder);
}, HOUR_MS);
afterAll(() => mediaFolder?.clear());

/** Keeps every processor busy twice over while the work is done. */
async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  const spin = [
    "-e",
    "process.once('disconnect', () => process.exit()); setInterval(() => { const end = Date.now() + 90; while (Date.now() < end); }, 100)",
  ];
  const load = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, spin, { stdio: ["ignore", "ignore", "ignore", "ipc"] }),
  );
  try {
    return await work();
  } finally {
    for (const process of load) process.kill("SIGKILL");
  }
}

it.each(VIDEO_MODES)(
  `never refuses a video of mode %s in ${ROUNDS} rounds`,
  async (mode) => {
    const { frames } = await decodeVideo(videos[mode].path);
    await underLoad(async () => {
      for (let round = 0; round < ROUNDS; round += 2) {
        const order = { mode: "extend", video: videos[mode], seconds: 0.25 } as const;
        const pair = [renderVideo(mediaFolder, order), renderVideo(mediaFolder, order)];
        for (const path of await Promise.all(pair)) {
          expect((await decodeVideo(path)).frames).toBe(frames + 6);
        }
      }
    });
  },
  HOUR_MS,
);
