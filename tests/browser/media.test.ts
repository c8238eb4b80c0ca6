import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeImage, makeVideoWithSound } from "../support/fixtures/encoded-media.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { describeInBrowser } from "../support/harness/browser.ts";

/** As soon as it can be played, or cannot. */
const seen = () =>
  new Promise((resolve) => {
    const video = document.querySelector("video");
    const tell = () => resolve({ width: video?.videoWidth, error: video?.error?.message ?? null });
    if (!video || video.readyState >= 2 || video.error) return tell();
    video.addEventListener("loadeddata", tell);
    video.addEventListener("error", tell);
  });

describeInBrowser("a file that was made", ({ newTab }) => {
  test("is shown when its URL is opened", async () => {
    // The browser also requests an icon of the site, which does not matter here.
    const { page } = await newTab({ expected: /favicon\.ico|\/_next\/static\// });
    await page.goto(await storeMedia(randomUUID(), await makeImage(), "image/png"));
    expect(await page.evaluate(() => document.images[0]?.naturalWidth)).toBe(320);
    await page.goto(await storeMedia(randomUUID(), await makeVideoWithSound(2), "video/mp4"));
    expect(await page.evaluate(seen)).toEqual({ width: 320, error: null });
  });

  test("plays in a page of another site, from any moment of it", async () => {
    const { page } = await newTab();
    const url = await storeMedia(randomUUID(), await makeVideoWithSound(4), "video/mp4");
    await page.setContent(`<video crossorigin muted preload="auto" src="${url}"></video>`);
    expect(await page.evaluate(seen)).toEqual({ width: 320, error: null });
    const moment = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const video = document.querySelector("video");
          video?.addEventListener("seeked", () => resolve(video.currentTime));
          if (video) video.currentTime = 3;
        }),
    );
    expect(moment).toBe(3);
  });
});
