/**
 * The pages of schedules and of usage, with the log of requests. This file is long because they share one browser.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createSession } from "../support/fixtures/sessions.ts";
import { createTask, readTask } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { describeInBrowser, expectGood, type SignedIn } from "../support/harness/browser.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { authorize } from "../support/harness/connections.ts";
import { decide, openConsent } from "../support/harness/consent.ts";
import { sql } from "../support/harness/stack.ts";

/**
 * Creates a trigger of the paused schedule that is shown, sends an event, reads why it started nothing, and deletes it;
 * then one at an event of a service that the account has connected.
 */
async function checkTriggers(page: Page, api: Client) {
  await decide(await openConsent(await authorize(api, { connector: "gmail" })), "allow");
  const triggers = page.getByRole("region", { name: "Triggers" });
  await triggers.getByRole("button", { name: "Create trigger" }).click();
  const form = page.getByRole("dialog", { name: "Create trigger" });
  await form.getByRole("button", { name: "Create trigger" }).click();
  const shown = page.getByRole("dialog", { name: "Trigger created" });
  const command = await shown.getByText(/^curl /).textContent();
  const [, url = "", secret = ""] = /^curl (\S+) .*Bearer (\S+)'/.exec(command ?? "") ?? [];
  await expectGood(page);
  await shown.getByRole("button", { name: "Done" }).click();
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(409);
  await triggers.getByRole("button", { name: "Events" }).click();
  await triggers.getByText("The task is disabled: enable it to accept events").waitFor();
  await expectGood(page);
  await triggers.getByRole("button", { name: "Delete trigger" }).click();
  const confirm = page.getByRole("alertdialog").getByRole("button", { name: "Delete trigger" });
  await confirm.click();
  await triggers.getByRole("heading", { name: "No triggers yet" }).waitFor();

  await triggers.getByRole("button", { name: "Create trigger" }).click();
  await form.getByLabel("Sender").selectOption("Your Gmail");
  await form.getByLabel("Event").selectOption("Test event");
  await form.getByText("The action SEND_TEST_EVENT was run.").waitFor();
  await expectGood(page);
  await form.getByRole("button", { name: "Create trigger" }).click();
  await triggers.getByText("Test event in Gmail").waitFor();
  await triggers.getByRole("button", { name: "Delete trigger" }).click();
  await confirm.click();
  await triggers.getByRole("heading", { name: "No triggers yet" }).waitFor();
}

describeInBrowser("the pages", ({ signedIn }) => {
  describe("of schedules", () => {
    it("are made in the time zone of the account, changed, run, paused and deleted", async () => {
      const { page, ...account } = await signedIn({ expected: /status of 404/ });
      const api = client({ bearer: account.bearer });
      await api.patch("/api/accounts/me", { timezone: "America/New_York" });
      const manyModels = Array.from({ length: 40 }, (_, index) => ({
        ...{ id: `test/${index + 1}`, name: `Model ${index + 1}`, type: "language" },
        ...{ context_window: 200_000, pricing: null },
      }));
      await page.route("**/api/models", (route) =>
        route.fulfill({ json: { default: "test/1", models: manyModels } }),
      );
      await page.goto("/schedules");
      await page.getByRole("heading", { name: "No schedules yet" }).waitFor();

      await page.getByRole("button", { name: "New schedule" }).click();
      const dialog = page.getByRole("dialog", { name: /schedule/ });
      await expect
        .poll(() => dialog.getByLabel("Title").evaluate((one) => one === document.activeElement))
        .toBe(true);
      // The list of models scrolls, although the dialog keeps the page from it.
      await dialog.getByRole("button", { name: /^Model/ }).click();
      const models = page.getByRole("listbox", { name: "Models" });
      await models.hover();
      await page.mouse.wheel(0, 400);
      await expect.poll(() => models.evaluate((list) => list.scrollTop)).toBeGreaterThan(200);
      await page.keyboard.press("Escape");
      await models.waitFor({ state: "detached" });
      await page.unroute("**/api/models");
      expect(await dialog.getByLabel("Time zone").inputValue()).toBe("America/New_York");
      await dialog.getByLabel("Title").fill("Chart watch");
      await dialog.getByLabel("Prompt").fill("Say hello");
      const next = dialog.getByRole("region", { name: "Next runs" }).getByRole("listitem");
      expect(await next.count()).toBe(5);
      for (const text of await next.allTextContents()) {
        expect(text).toMatch(/^Mon, .* 9:00.AM E[SD]T$/);
      }
      await expectGood(page);
      await dialog.getByRole("checkbox", { name: "Friday" }).check();
      await expect.poll(async () => (await next.allTextContents()).join()).toMatch(/Fri, .*9:00/);
      await dialog.getByLabel("Repeat").selectOption("Custom (cron expression)");
      const cron = dialog.getByLabel("Cron expression");
      expect(await cron.inputValue()).toBe("0 9 * * MON,FRI");
      await cron.fill("0 0 30 2 *");
      await dialog.getByText("It has no time to come.").waitFor();
      await cron.fill("30 8 * * MON-FRI");
      await dialog.getByRole("button", { name: "Create schedule" }).click();
      await page.waitForURL(/\/schedules\/[\w-]+$/);
      const id = page.url().split("/").at(-1) ?? "";
      await page.getByText("Every weekday at 8:30 AM · America/New York").waitFor();
      expect(await readTask(api, id)).toMatchObject({ schedule: "30 8 * * MON-FRI" });
      await page.getByRole("region", { name: "Next runs" }).getByRole("listitem").last().waitFor();
      await page.getByRole("heading", { name: "No runs yet" }).waitFor();
      await expectGood(page);

      await page.getByRole("button", { name: "Edit" }).click();
      expect(await dialog.getByLabel("Repeat").inputValue()).toBe("weekdays");
      await dialog.getByLabel("At", { exact: true }).fill("18:00");
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByText("Every weekday at 6:00 PM · America/New York").waitFor();

      await page.getByRole("button", { name: "Edit" }).click();
      const { default: model } = Object((await api.get("/api/models")).body);
      const choose = async (search: string) => {
        await dialog.getByRole("button", { name: /^Model/ }).click();
        await page.getByRole("combobox", { name: "Search models" }).fill(search);
        await page.getByRole("combobox", { name: "Search models" }).press("Enter");
      };
      await choose(model);
      await dialog.getByRole("button", { name: "Save" }).click();
      await expect.poll(async () => (await readTask(api, id)).model).toBe(model);
      await page.getByRole("button", { name: "Edit" }).click();
      await choose("default");
      await dialog.getByRole("button", { name: "Model: Default model" }).waitFor();
      await dialog.getByRole("button", { name: "Save" }).click();
      await expect.poll(async () => (await readTask(api, id)).model).toBeNull();

      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("None while the schedule is paused.").waitFor();

      await page.getByRole("button", { name: "Run now" }).click();
      await page.waitForURL(/\/runs\/\w+$/);
      const runUrl = page.url();
      await page.getByText("Completed", { exact: true }).first().waitFor();
      await page.goto(`/schedules/${id}`);
      const history = page.getByRole("region", { name: "History" });
      await history.getByText("By hand or by an event").waitFor();
      await history.getByRole("link").click();
      await page.waitForURL(runUrl);
      await page.goto(`/schedules/${id}`);
      await checkTriggers(page, api);
      await storeFirings(id);
      await page.goto(`/schedules/${id}`);
      await history.getByRole("img", { name: /^Last 3 runs: 2 completed, 1 failed; / }).waitFor();
      await expectGood(page);

      const other = await createTask(api, {
        title: "Tour watch",
        enabled: false,
        schedule: "*/5 1-3 * * *",
      });
      await page.goto("/schedules");
      await page.getByRole("switch", { name: "Enable Chart watch" }).check();
      await page.getByText(/^Next /).waitFor();
      await page.getByText("Paused").waitFor();
      await expectGood(page);
      expect((await api.delete(`/api/tasks/${other.id}`)).status).toBe(200);
      await page.getByRole("link", { name: "Chart watch" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete schedule" }).click();
      await page.getByRole("heading", { name: "No schedules yet" }).waitFor();
      await page.goto(`/schedules/${id}`);
      await page.getByRole("heading", { name: "Schedule not found" }).waitFor();
    });

    it("offer the newer version of a template with its changes, as chats do", async () => {
      const [{ page, bearer }, owner] = await Promise.all([signedIn(), createPerson()]);
      const caller = client({ bearer });
      const { id, title } = await createTemplate(owner.withKey);
      const { session, chat } = await createSession(caller);
      const chatPath = `/api/sessions/${session.id}/chats/${chat.id}`;
      await caller.patch(chatPath, { templateId: id });
      const task = await createTask(caller, { template_id: id });
      const prompt = "Plan the six weeks before and after the release of a single.";
      await owner.withKey.patch(`/api/agents/templates/${id}`, { prompt });
      const update = page.getByRole("region", { name: "Template update" });
      for (const path of [`/chat/${session.id}/${chat.id}`, `/schedules/${task.id}`]) {
        await page.goto(path);
        await update.getByText(`A newer version of “${title}” is available.`).waitFor();
        await update.getByText("Show changes").click();
        await update.getByText(`+${prompt}`).waitFor();
        await expectGood(page);
        await update.getByRole("button", { name: "Accept" }).click();
        await update.waitFor({ state: "detached" });
      }
      expect((await caller.get(chatPath)).body).toMatchObject({ chat: { template_version: 2 } });
      expect((await readTask(caller, task.id)).template_version).toBe(2);
    });
  });

  describe("of usage", () => {
    it("is shown by day and by cause, as a table and as a file, beside the budget", async () => {
      const { page, ...account } = await signedIn();
      await storeUsage(account);
      await page.goto("/usage");
      const chart = page.getByRole("region", { name: "Cost by day" });
      await chart.getByRole("img", { name: /\$3 in all/ }).waitFor();
      await page.getByRole("radio", { name: "Tokens" }).check();
      await page.getByRole("img", { name: /^Tokens by day: 3K in all/ }).waitFor();
      await page.getByRole("button", { name: "View as table" }).click();
      const rows = page.getByRole("region", { name: "Tokens by day" }).getByRole("row");
      await expect.poll(() => rows.count()).toBe(1 + new Date().getUTCDate());

      const breakdown = page.getByRole("region", { name: "Breakdown" });
      await breakdown.getByRole("cell", { name: "=model/a" }).waitFor();
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download CSV" }).click();
      const file = await (await downloading).path();
      expect(await readFile(file, "utf8")).toBe(
        "model,name,runs,steps,input_tokens,cached_input_tokens,output_tokens,cost_usd,unpriced_calls,images,videos\r\n" +
          "'=model/a,'=model/a,1,2,2000,0,1000,3,0,0,0\r\n",
      );
      await breakdown.getByRole("radio", { name: "API key" }).check();
      await breakdown.getByRole("cell", { name: "Console and bearer tokens" }).waitFor();
      await page.getByLabel("Time").selectOption("Last month");
      await breakdown.getByText("Nothing was used in this time.").waitFor();
      expect(new URL(page.url()).search).toBe("?range=last-month");

      await page.getByRole("button", { name: "Set budget" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Budget in USD").fill("a lot");
      await dialog.getByText("Enter an amount such as 50 or 12.50.").waitFor();
      await dialog.getByLabel("Budget in USD").fill("3.50");
      await dialog.getByRole("button", { name: "Save" }).click();
      const budget = page.getByRole("progressbar");
      await budget.waitFor();
      expect(await budget.getAttribute("aria-valuenow")).toBe("86");
      await page.getByText("86 % of the budget is spent.").waitFor();
    });

    it("divides each day by the models with the most, and by what else may have caused it", async () => {
      const { page, ...account } = await signedIn();
      await sql`insert into usage_entries (account_id, source, step, tool, call, kind, model_id,
        input_tokens, output_tokens, cost_usd)
      select ${account.id}, 'turn', n, 0, 0, 'chat', 'model-' || n, 1000, 500, n
      from generate_series(1, 8) n`;
      const api = client({ bearer: account.bearer });
      await api.patch("/api/accounts/me", { monthly_budget_usd: 42 });
      await page.goto("/usage");
      const chart = page.getByRole("region", { name: "Cost by day" });
      await chart.getByRole("img", { name: /\$36 in all/ }).waitFor();
      await page.getByRole("cell", { name: "model-8" }).waitFor();
      await page.getByRole("progressbar").waitFor();
      await expectGood(page);
      const legend = chart.getByRole("listitem");
      await expect
        .poll(() => legend.allTextContents())
        .toEqual(["model-8$8", "model-7$7", "model-6$6", "model-5$5", "model-4$4", "Other$6"]);
      await page.getByRole("button", { name: "View as table" }).click();
      await chart.getByRole("columnheader", { name: "model-8" }).waitFor();
      await expectGood(page);
      // A run may call several models: the runs of a day are not divided by them.
      await page.getByRole("radio", { name: "Runs" }).check();
      const runs = page.getByRole("region", { name: "Runs by day" });
      await runs.getByRole("columnheader", { name: "Runs", exact: true }).waitFor();
      expect(await runs.getByRole("columnheader").count()).toBe(2);
    });

    it("has a log of requests with filters and the details of each", async () => {
      const { tab, page, ...account } = await signedIn();
      const requestId = `seen-${randomUUID()}`;
      const route = "/api/chat/runs/{runId}/steps";
      await storeRequest(account, route, 500, requestId);
      await page.goto("/usage?tab=requests&status=5xx");
      const rows = page.getByRole("main").getByRole("listitem");
      await expect.poll(() => rows.count()).toBe(1);
      await rows
        .first()
        .getByRole("button", { name: /500.*\/api\/chat\/runs\/\{runId\}\/steps/ })
        .click();
      const panel = page.getByRole("dialog");
      await panel.getByText(requestId).waitFor();
      await expectGood(page);
      await panel.getByRole("button", { name: "Only this endpoint" }).click();
      expect(new URL(page.url()).searchParams.get("route")).toBe(route);
      await page.getByRole("radio", { name: "Refused" }).click();
      await page.getByRole("heading", { name: "No matching requests" }).waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await expect
        .poll(async () => {
          await page.getByRole("button", { name: "Refresh" }).click();
          return (await rows.allTextContents()).join();
        })
        .toMatch(/\/api\/requests.*\/api\/chat\/runs\/\{runId\}\/steps/);
    });
  });
});

/** Stores a failed and a completed run of a schedule, before the one that it has. */
async function storeFirings(taskId: string): Promise<void> {
  await sql`with stored as (
      insert into task_runs (id, account_id, task_identifier, status, tags, created_at, finished_at)
      select 'run_' || md5(r.id || n), r.account_id, r.task_identifier,
        case n when 1 then 'FAILED' else 'COMPLETED' end, r.tags,
        r.created_at - make_interval(hours => n), r.finished_at - make_interval(hours => n)
      from scheduled_firings f join task_runs r on r.id = f.task_run_id, generate_series(1, 2) n
      where f.task_id = ${taskId} returning id, account_id, created_at)
    insert into scheduled_firings (id, account_id, task_id, task_run_id, created_at)
    select gen_random_uuid(), account_id, ${taskId}, id, created_at from stored`;
}

/** Stores two model calls of today. */
async function storeUsage({ id }: SignedIn): Promise<void> {
  await sql`insert into usage_entries (account_id, source, step, tool, call, kind, model_id,
      input_tokens, output_tokens, cost_usd)
    select ${id}, 'turn', n, 0, 0, 'chat', '=model/a', 1000, 500, 1.5 from generate_series(1, 2) n`;
}

async function storeRequest(
  { id }: SignedIn,
  route: string,
  status: number,
  requestId: string,
): Promise<void> {
  await sql`insert into requests (account_id, method, route, status, duration_ms, credential,
      request_id, created_at)
    values (${id}, 'GET', ${route}, ${status}, 12.5, 'bearer', ${requestId}, now())`;
}
