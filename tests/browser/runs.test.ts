import { expect, it } from "vitest";
import { makeVideo } from "../support/fixtures/encoded-media.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { fullRun, insertRun, plainRun, type RawRun } from "../support/fixtures/task-runs.ts";
import {
  describeInBrowser,
  expectGood,
  type SignedIn,
  signIn,
  type Tab,
} from "../support/harness/browser.ts";
import { sql } from "../support/harness/stack.ts";

describeInBrowser("the list of task runs", ({ newTab, signedIn }) => {
  it("follows a task run to its end by itself", async () => {
    const tab = await newTab();
    const { page } = tab;
    const run = { taskIdentifier: "generate-video", payload: { prompt: "a slow push in" } };
    await open(tab, ({ id }) => [
      plainRun(id, { ...run, status: "EXECUTING", startedAt: new Date().toISOString() }),
    ]);
    const row = page.getByRole("button", { name: /Generate video.*a slow push in/ });
    await row.getByText("Running").waitFor();

    await row.click();
    const panel = page.getByRole("dialog", { name: "Generate video" });
    await panel.getByText("Running").waitFor();
    const runId = new URL(page.url()).searchParams.get("runId");
    await sql`update task_runs set status = 'COMPLETED', updated_at = now(), finished_at = now(),
      output = ${sql.json({ note: "the end" })} where id = ${runId}`;
    await panel.getByText("Completed").waitFor();
    await panel.getByText("the end").waitFor();
    await page.keyboard.press("Escape");
    await row.getByText("Completed").waitFor();
    await expectGood(page);
  });

  it("shows all that a run has, by its address, but loads nothing from elsewhere on the web", async () => {
    const { page, ...account } = await signedIn();
    const video = await storeMedia(account.id, await makeVideo(1), "video/mp4");
    const run = fullRun(account.id, { output: { videoSourceUrl: video } });
    await insertRun(account.id, run);
    await page.goto(`/runs?runId=${run.id}`);
    const panel = page.getByRole("dialog");
    for (const text of ["Completed", "A late fault", "First try", "campaign:spring", "once"]) {
      await panel.getByText(text, { exact: true }).first().waitFor();
    }
    for (const name of ["Payload", "Output", "Metadata", "Schedule", "Related runs"]) {
      expect(await panel.getByRole("region", { name }).first().isVisible()).toBe(true);
    }
    await expect
      .poll(() => panel.locator("video").evaluate((one: HTMLVideoElement) => one.duration))
      .toBeCloseTo(1, 0);

    await expectGood(page);

    const foreign = fullRun(account.id, { status: "TIMED_OUT" });
    await insertRun(account.id, foreign);
    await page.goto(`/runs?runId=${foreign.id}`);
    const link = panel.getByRole("link", { name: "example.com" });
    expect(await link.getAttribute("href")).toBe("https://example.com/v.mp4");
    expect(await page.locator("video").count()).toBe(0);
  });

  it("says that a run is not there, goes back to the list, and says what to do where none has run", async () => {
    const { page } = await signedIn({ expected: /status of 404/ });
    await page.goto("/runs?runId=run_0000000000000000");
    await page.getByText("This no longer exists").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("No task runs yet").waitFor();
    const way = page.getByRole("link", { name: "Create content" });
    expect(await way.getAttribute("href")).toBe("/content");
  });
});

/** The page as someone new sees it who has these runs. */
async function open(
  tab: Tab,
  runs: (account: SignedIn) => readonly RawRun[] = () => [],
): Promise<SignedIn> {
  const account = await signIn(tab);
  for (const run of runs(account)) await insertRun(account.id, run);
  await tab.page.goto("/runs?tab=tasks");
  await tab.page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  return account;
}
