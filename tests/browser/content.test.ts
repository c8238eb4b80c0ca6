import type { Locator, Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { makeImage, makeVideo } from "../support/fixtures/encoded-media.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { insertRun, plainRun, type RawRun } from "../support/fixtures/task-runs.ts";
import {
  describeInBrowser,
  expectGood,
  noteOf,
  type SignedIn,
  signIn,
  type Tab,
} from "../support/harness/browser.ts";
import { sql } from "../support/harness/stack.ts";

/** Milliseconds: pictures are really drawn and encoded, on a machine that does much else. */
const RENDERED = 150_000;

vi.setConfig({ testTimeout: 2 * RENDERED + 60_000 });

describeInBrowser("the page of content", ({ newTab, signedIn }) => {
  it("makes an image, makes a video of it, and plays it", async () => {
    const tab = await newTab();
    const { page } = tab;
    await open(tab);
    await page.getByText("No images or videos yet").waitFor();
    await field(page, "Prompt").fill("A singer on a flat roof at dusk");
    await page.getByRole("button", { name: "Generate image" }).click();
    const picture = result(page).getByRole("img", { name: "A singer on a flat roof at dusk" });
    await picture.waitFor({ timeout: RENDERED });
    await expect
      .poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth))
      .toBeGreaterThan(300);

    await page.getByRole("button", { name: "Use in video" }).click();
    await page.getByRole("menuitem", { name: "Animate" }).click();
    expect(await field(page, "Image").inputValue()).toMatch(/\.png$/);
    await field(page, "Prompt").fill("a slow push in");
    await page.getByRole("radio", { name: "4 s" }).check();
    await page.getByRole("button", { name: "Generate video" }).click();
    const video = result(page).locator("video[controls]");
    await video.waitFor({ timeout: RENDERED });
    await expect.poll(() => lengthOf(video)).toBeCloseTo(4, 0);
    await video.evaluate((one: HTMLVideoElement) => {
      one.muted = true;
      return one.play();
    });
    await expect
      .poll(() => video.evaluate((one: HTMLVideoElement) => one.currentTime))
      .toBeGreaterThan(0.2);
    expect(await video.evaluate((one: HTMLVideoElement) => one.readyState)).toBeGreaterThan(1);
    const download = result(page).getByRole("link", { name: "Download" });
    expect(await download.getAttribute("href")).toMatch(/^\/api\/media\/.+\.mp4$/);
  });

  it("finds a generation that it was left with", async () => {
    const tab = await newTab({ expected: /ERR_(ABORTED|FAILED|NETWORK)/ });
    const { page } = tab;
    const { id } = await open(tab);
    await field(page, "Prompt").fill("Two hands on a tape deck");
    await page.getByRole("button", { name: "Generate image" }).click();
    await expect.poll(() => sql`select 1 from task_runs where account_id = ${id}`).toHaveLength(1);
    await page.reload();
    await result(page)
      .getByRole("img", { name: "Two hands on a tape deck" })
      .waitFor({ timeout: RENDERED });
  });

  it("shows what a generation is at, and its result, without being asked", async () => {
    const tab = await newTab();
    const { page } = tab;
    const account = await open(tab, ({ id }) => [
      plainRun(id, {
        taskIdentifier: "generate-video",
        status: "EXECUTING",
        startedAt: new Date().toISOString(),
        metadata: { step: "generating", mode: "animate" },
        payload: { prompt: "a slow push in" },
      }),
    ]);
    await result(page).getByText("Generating").waitFor();
    const url = await storeMedia(account.id, await makeVideo(1), "video/mp4");
    await sql`update task_runs set status = 'COMPLETED', updated_at = now(), finished_at = now(),
      output = ${sql.json({ videoSourceUrl: url })} where account_id = ${account.id}`;
    await expect.poll(() => lengthOf(result(page).locator("video"))).toBeCloseTo(1, 0);
  });

  it("asks in each mode for its inputs, and sends what got no answer again under the same key", async () => {
    const tab = await newTab({ expected: /ERR_FAILED|status of 400/ });
    const { page } = tab;
    await open(tab);
    const keys: (string | undefined)[] = [];
    await page.route("**/api/content/image", (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length === 1) return route.abort();
      return route.fulfill({ json: { imageUrl: "https://example.com/i.png", images: [] } });
    });
    await field(page, "Prompt").fill("A roof");
    const make = page.getByRole("button", { name: "Generate image" });
    await make.click();
    await page.getByText("The service cannot be reached").waitFor();
    for (const count of [2, 3]) {
      await make.click();
      await expect.poll(() => keys.length).toBe(count);
      await expect.poll(() => make.isEnabled()).toBe(true);
    }
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    // The next request has another key.
    expect(keys[2]).not.toBe(keys[0]);

    // Each mode has its own inputs, and its own text for a missing one.
    await page.getByRole("tab", { name: "Video" }).click();
    const image = "Choose an image, or enter the public https URL of one.";
    const video = "Choose a video of at most 8 seconds, or enter the public https URL of one.";
    const modes = [
      ["Prompt", ["Image"], image],
      ["Animate", ["Image"], image],
      ["Reference", ["Reference image"], image],
      ["Extend", ["Video to continue"], video],
      ["First and last", ["First frame", "Last frame"], image],
      ["Lip sync", ["Face", "Voice or song"], image],
    ] as const;
    const urls = page.getByRole("form", { name: "Video" }).locator("input[type=url]");
    for (const [mode, labels, sentence] of modes) {
      await page.getByRole("radio", { name: mode }).check();
      await expect.poll(() => urls.count()).toBe(labels.length);
      for (const label of labels) await field(page, label).waitFor();
      await page.getByRole("button", { name: "Generate video" }).click();
      const first = field(page, labels[0]);
      await expect.poll(() => noteOf(page, first)).toBe(sentence);
      await expect.poll(() => first.evaluate((one) => one === document.activeElement)).toBe(true);
    }
  });

  it("offers earlier results as inputs, and has no findings", async () => {
    const { tab, page, ...account } = await signedIn({ expected: /status of 400/ });
    const image = await storeMedia(account.id, await makeImage(), "image/png");
    await insertRun(account.id, imageRun(account.id, "A blue wall", image));
    await goto(page);
    await result(page).getByRole("img", { name: "A blue wall" }).waitFor();
    await expectGood(page);
    await page.getByRole("tab", { name: "Video" }).click();
    await page.getByText("More options").click();
    await expectGood(page);
    await page.getByRole("radio", { name: "First and last" }).check();
    await page.getByRole("button", { name: "Last frame: choose from your results" }).click();
    const earlier = page.getByRole("dialog").getByRole("button", { name: "A blue wall" });
    await earlier.waitFor();
    await expectGood(page);
    await earlier.click();
    expect(await field(page, "Last frame").inputValue()).toBe(image);

    // A local file: chosen, dropped, and one that is not an image.
    const choose = async (name: string, buffer: Buffer) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "First frame: upload" }).click();
      await (await chooser).setFiles({ name, mimeType: "image/png", buffer });
    };
    await choose("notes.png", Buffer.from("no image"));
    await page.getByText("Choose an image, a video or an audio file.").waitFor();
    await choose("cover.png", await makeImage());
    const first = () => field(page, "First frame").inputValue();
    await expect.poll(first).toMatch(/\/api\/media\/.+\.png$/);
    const chosen = await first();
    const bytes = [...(await makeImage("webp"))];
    const data = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(content)], "dropped.webp"));
      return transfer;
    }, bytes);
    await field(page, "First frame").dispatchEvent("drop", { dataTransfer: data });
    await expect.poll(first).toMatch(/\.webp$/);
    expect(await first()).not.toBe(chosen);
  });
});

/** The page as someone new sees it who has these runs, the newest last. */
async function open(
  tab: Tab,
  runs: (account: SignedIn) => readonly RawRun[] = () => [],
): Promise<SignedIn> {
  const account = await signIn(tab);
  for (const [index, run] of runs(account).entries()) {
    const createdAt = new Date(Date.now() + index).toISOString();
    await insertRun(account.id, { ...run, createdAt });
  }
  await goto(tab.page);
  return account;
}

async function goto(page: Page): Promise<void> {
  await page.goto("/content");
  await page.getByRole("heading", { name: "Content", level: 1 }).waitFor();
}

const imageRun = (accountId: string, prompt: string, url: string): RawRun =>
  plainRun(accountId, {
    taskIdentifier: "generate-image",
    status: "COMPLETED",
    payload: { prompt },
    output: { imageUrl: url, images: [url] },
  });

const field = (page: Page, name: string): Locator =>
  page.getByRole("textbox", { name, exact: true });

const result = (page: Page): Locator => page.getByRole("region", { name: "Result" });

const lengthOf = (video: Locator): Promise<number> =>
  video.evaluate((one: HTMLVideoElement) => one.duration);
