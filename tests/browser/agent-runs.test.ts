/** All runs of an account, and the page of one run with its timeline. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { hostileTexts } from "../support/fixtures/hostile-texts.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import {
  describeInBrowser,
  expectGood,
  type SignedIn,
  sidewaysScroll,
} from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

describeInBrowser("agent runs", ({ signedIn }) => {
  it("are listed by the server, page by page and by filters that stay in the address", async () => {
    const { page, ...account } = await signedIn();
    await page.goto("/runs");
    await page.getByRole("heading", { name: "No agent runs yet" }).waitFor();

    await storeRuns(account, { count: 60, status: "completed" });
    await storeRuns(account, { count: 2, status: "failed", error: "The model is overloaded" });
    await page.reload();
    const rows = page.getByRole("main").getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole("button", { name: "Load more" }).click();
    await expect.poll(() => rows.count()).toBe(50);

    await page.getByRole("radio", { name: "Failed" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.first().textContent()).toContain("The model is overloaded");
    expect(new URL(page.url()).search).toBe("?status=failed");
    await page.getByLabel("Kind").selectOption("Scheduled");
    await page.getByRole("heading", { name: "No matching runs" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "No matching runs" }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect.poll(() => rows.count()).toBe(25);
  });

  it("are started, followed on a timeline, run again and cancelled", async () => {
    const { page } = await signedIn();
    await page.goto("/runs");
    await page.getByRole("button", { name: "Start agent run" }).first().click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Start" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Prompt").fill("run: echo hi");
    const model = dialog.getByRole("button", { name: /^Model: / });
    await model.click();
    await page.getByRole("combobox", { name: "Search models" }).press("Enter");
    await expect.poll(() => model.evaluate((one) => one === document.activeElement)).toBe(true);
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/\/runs\/\w+$/);
    await page.getByText("Completed", { exact: true }).first().waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    const labels = timeline.getByRole("listitem").getByRole("button");
    await timeline.getByRole("button", { name: /Model call 2/ }).waitFor();
    expect((await labels.allTextContents()).join()).toMatch(/Model call 1.*bash.*Model call 2/);
    await timeline.getByRole("button", { name: /bash/ }).click();
    const details = page.getByRole("region", { name: "Step details" });
    await details.getByText("Completed").waitFor();
    await expect.poll(() => timeline.locator("pre").textContent()).toContain("echo hi\nhi\n");
    const bar = timeline.getByRole("button", { name: /bash/ }).locator("[style*=width]");
    const share = () => bar.evaluate((one) => Number.parseFloat(one.style.width));
    const ofWholeRun = await share();
    await timeline.getByRole("button", { name: "Zoom to step" }).click();
    await expect.poll(share).toBeGreaterThan(70);
    await timeline.getByRole("button", { name: "Show whole run" }).click();
    await expect.poll(share).toBe(ofWholeRun);

    await timeline.getByRole("button", { name: /Model call 2/ }).click();
    await timeline.getByText("Exactly as sent, without the bytes of files.").waitFor();
    await timeline.getByText(/^tool Result of bash/).click();
    await timeline.getByLabel("tool text", { exact: true }).getByText("stdout: hi").waitFor();
    expect(new URL(page.url()).hash).toBe("#step-1");
    await expectGood(page);
    await page.reload();
    const linked = timeline.getByRole("button", { name: /Model call 2/, pressed: true });
    await linked.waitFor();

    const firstUrl = page.url().replace("#step-1", "");
    await page.getByRole("button", { name: "Run again" }).click();
    expect(await dialog.getByLabel("Prompt").inputValue()).toBe("run: echo hi");
    await dialog.getByLabel("Prompt").fill("run: sleep 100");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.waitForURL((url) => !url.href.startsWith(firstUrl));
    await timeline.getByRole("button", { name: /bash.*so far/ }).waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByText("Cancelled", { exact: true }).first().waitFor();
    expect(await page.getByRole("button", { name: "Cancel run" }).count()).toBe(0);

    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("list", { name: "Runs" }).getByRole("link").click();
    const row = (name: string) => page.getByRole("row", { name }).getByRole("cell");
    await expect.poll(() => row("Status").allTextContents()).toEqual(["Cancelled", "Completed"]);
    await page.getByLabel("Changes").getByText("+").first().waitFor();
    await expectGood(page);
    await row("Run").first().getByRole("link").click();

    // A notice about the run has such a link, too.
    await page.getByRole("main").getByRole("link", { name: "Open chat" }).click();
    await page.waitForURL(/\/chat\/[\w-]+\/[\w-]+$/);
  });

  it("show what a run waits for, its output, and the verdicts on it", async () => {
    const { page, ...account } = await signedIn();
    const api = client({ bearer: account.bearer });
    const { body } = await api.post("/api/chat/runs", {
      prompt:
        'call look_up with `{"isrc": "<b>QZ1</b>"}`\nsubmit `{"title": "<b>Night</b> Drive", "bpm": 120}`',
      client_tools: [{ name: "look_up", description: "", input_schema: { type: "object" } }],
      output_schema: { type: "object", required: ["title", "bpm"] },
      outcome: { checks: [{ type: "file_exists", path: "cover.png" }], max_iterations: 1 },
    });
    const { runId } = Object(body);
    const read = async () => Object((await api.get(`/api/chat/runs/${runId}`)).body);
    await expect.poll(async () => (await read()).status).toBe("requires_action");
    await page.goto("/runs");
    await page.getByRole("radio", { name: "Needs action" }).click();
    await page.getByRole("main").getByRole("listitem").getByRole("link").click();
    await page.getByText("Needs action", { exact: true }).first().waitFor();
    const input = page.getByRole("region", { name: "Input of look_up JSON" });
    expect(JSON.parse((await input.textContent()) ?? "")).toEqual({ isrc: "<b>QZ1</b>" });
    await expectGood(page);
    const [{ id }] = (await read()).required_action.tool_calls;
    await api.post(`/api/chat/runs/${runId}/tool_results`, { results: [{ id, output: "found" }] });

    await page.getByText("Completed", { exact: true }).first().waitFor();
    expect(await input.count()).toBe(0);
    await page.getByText("Attempt 1: Not satisfied").waitFor();
    await page.getByText("The file cover.png must exist").waitFor();
    const output = page.getByRole("region", { name: "Output JSON" });
    const shown = JSON.parse((await output.textContent()) ?? "");
    expect(shown).toEqual({ title: "<b>Night</b> Drive", bpm: 120 });
    await page.getByRole("button", { name: "Copy output" }).waitFor();
    await expectGood(page);
  });

  it("show hostile text as text, and a run that is not there as missing", async () => {
    const { page, ...account } = await signedIn({ expected: /status of 404/ });
    const texts = hostileTexts();
    for (const text of texts) {
      await storeRuns(account, {
        count: 1,
        status: "failed",
        error: text,
        title: text.slice(0, 200),
      });
    }
    await page.goto("/runs");
    const rows = page.getByRole("main").getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(Math.min(25, texts.length));
    expect(await sidewaysScroll(page)).toBe(0);
    await rows.first().getByRole("link").click();
    await page.getByRole("alert").filter({ hasText: "The run failed" }).waitFor();
    await page.getByRole("heading", { name: "No trace" }).waitFor();
    await page.goto("/runs/wrun_unknown");
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  });

  it("name the artist that they work for, can be narrowed to it, and have no findings", async () => {
    const { page, ...account } = await signedIn();
    for (const status of ["queued", "running", "completed", "failed", "cancelled"]) {
      await storeRuns(account, { count: 1, status, error: status === "failed" ? "Why" : null });
    }
    const api = client({ bearer: account.bearer });
    const made = await api.post("/api/artists", { name: "Mara Vale" });
    const { account_id: artist } = Object(made.body).artist;
    await storeRuns(account, { count: 1, status: "completed", artist });
    await page.goto("/runs");
    await page.getByText("Cancelled", { exact: true }).last().waitFor();
    const rows = page.getByRole("main").getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(6);
    await rows.filter({ hasText: "Mara Vale" }).waitFor();
    await expectGood(page);
    await page.getByLabel("Artist").selectOption("Mara Vale");
    await expect.poll(() => rows.count()).toBe(1);

    const { body } = await api.post("/api/chat/runs", { prompt: "run: cat /missing" });
    await page.goto(`/runs/${Object(body).runId}`);
    await page.getByText("Completed", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /bash/ }).click();
    await expectGood(page);
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("dialog").waitFor();
    await expectGood(page);
  });
});

/** Stores runs of a new chat, each a second older than the one before. */
async function storeRuns(
  account: SignedIn,
  {
    count,
    status,
    error = null,
    title = "Release plan",
    artist = null,
  }: {
    readonly count: number;
    readonly status: string;
    readonly error?: string | null;
    readonly title?: string;
    readonly artist?: string | null;
  },
): Promise<void> {
  const { session, chat } = await createSession(client({ bearer: account.bearer }));
  // Older titles have characters that are refused today.
  await sql`update chats set title = ${title} where id = ${chat.id}`;
  const finishedAt = status === "queued" || status === "running" ? null : new Date();
  await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, kind, error, artist_id,
      message_id, assistant_message_id, model_id, created_at, finished_at)
    select gen_random_uuid(), ${account.id}, ${session.id}, ${chat.id},
      ${`wrun_${randomUUID().slice(0, 8)}`} || n, ${status}, 'chat', ${error}, ${artist},
      'm', 'a', 'auto', now() - make_interval(secs => n), ${finishedAt}
    from generate_series(1, ${count}) n`;
}
