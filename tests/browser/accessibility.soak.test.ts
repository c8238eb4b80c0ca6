/**
 * Accessibility of the states that other browser tests skip: pages that load, fail or are empty,
 * and the dialogs and menus of each.
 */
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { endCopies, newFolder, npmRun } from "../adapters/supabase/copies.ts";
import { makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import {
  describeInBrowser,
  expectGood,
  hideNavigation,
  isPhone,
  showNavigation,
} from "../support/harness/browser.ts";
import { client, createKey } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { untilLoaded } from "../support/harness/page-costs.ts";

/** The pages that read something, with the heading of each where there is nothing yet. */
const pages = [
  ["/artists", "No artists yet"],
  ["/catalog", "Recent releases"],
  ["/content", "Content"],
  ["/files", "Files"],
  ["/templates", "Templates"],
  ["/runs", "No agent runs yet"],
  ["/runs?tab=tasks", "No task runs yet"],
  ["/schedules", "No schedules yet"],
  ["/usage", "Usage"],
  ["/usage?tab=requests", "Usage"],
  ["/connectors", "Connectors"],
  ["/keys", "No keys yet"],
  ["/invitations", "No invitations"],
  ["/settings", "Profile"],
  ["/settings/mcp-servers", "Settings"],
  ["/settings/notifications", "Settings"],
  ["/settings/organizations", "No organizations yet"],
  ["/chat", "What would you like to work on?"],
] as const;

const failed = { status: "error", error: "Not now", message: "Not now" };

afterEach(endCopies);

describeInBrowser("axe has no finding", ({ newTab, signedIn }) => {
  it.each(pages)("on %s: loading, unreadable and empty", async (path, heading) => {
    const { page } = await signedIn({ expected: /status of 503/ });
    const held = Promise.withResolvers<void>();
    await page.route("**/api/**", async (route) => {
      await held.promise;
      await route.fulfill({
        status: 503,
        json: failed,
        headers: { "x-error-code": "unavailable" },
      });
    });
    await page.goto(path);
    await page.getByRole("main").waitFor();
    await expectGood(page);
    held.resolve();
    await untilLoaded(page);
    await expectGood(page);
    await page.unroute("**/api/**");
    await page.reload();
    await page.getByRole("heading", { name: heading }).first().waitFor();
    await untilLoaded(page);
    await expectGood(page);
  });

  it("in the dialogs of lists, with what they say of wrong input", async () => {
    const { page, id, bearer } = await signedIn({ expected: /status of 40[049]/ });
    const api = client({ bearer });
    await createKey(id);
    await createTask(api);
    await createTemplate(api, { title: "Press text", is_private: true });
    const artist = await makeArtist(api);
    const organization = await makeOrganization(api);
    for (const [path, opener, submit] of [
      ["/keys", "Create key", null],
      ["/keys", "Revoke test", null],
      ["/artists", "New artist", "Add artist"],
      [`/artists/${artist}`, "Edit", null],
      [`/artists/${artist}`, "Delete", null],
      ["/templates", "New template", "Create template"],
      ["/templates", "Delete Press text", null],
      ["/schedules", "New schedule", "Create schedule"],
      ["/runs", "Start agent run", null],
      ["/usage", "Set budget", null],
      ["/settings/organizations", "New organization", "Create organization"],
      [`/settings/organizations/${organization}`, "Rename", null],
      ["/connectors", "Actions of Gmail", null],
    ] as const) {
      await page.goto(path);
      await page.getByRole("button", { name: opener, exact: true }).first().click();
      const dialog = page.getByRole(/^(Revoke|Delete) ?/.test(opener) ? "alertdialog" : "dialog");
      await dialog.waitFor();
      await expectGood(page);
      if (submit === null) continue;
      const button = dialog.getByRole("button", { name: submit });
      if (await button.isDisabled()) continue;
      await button.click();
      await dialog.locator("[aria-invalid=true]").first().waitFor();
      await expectGood(page);
    }
  });

  it("on the tabs of an artist and in the menus of a chat", async () => {
    const { page, bearer } = await signedIn({ expected: /status of 40[04]/ });
    const api = client({ bearer });
    const artist = await makeArtist(api);
    await page.goto(`/artists/${artist}`);
    for (const one of await page.getByRole("tab").all()) {
      await one.click();
      await untilLoaded(page);
      await expectGood(page);
    }
    const conversation = await openConversation(api);
    const turn = await conversation.send("run: echo tour > dates.txt");
    await turn.ended;
    await page.goto(`/chat/${conversation.sessionId}/${conversation.chatId}`);
    await page.getByRole("article", { name: "Agent" }).waitFor();
    await showNavigation(page);
    for (const menu of [/^Actions for /, "Chat list"]) {
      await openMenu(page, menu);
      await expectGood(page, [isPhone(page) ? 360 : 1280]);
      await page.keyboard.press("Escape");
    }
    await hideNavigation(page);
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page.getByRole("button", { name: /^File dates.txt/ }).click();
    await page.getByLabel("Content of dates.txt").waitFor();
    await expectGood(page);
    await page.goto(`/chat/${crypto.randomUUID()}/${crypto.randomUUID()}`);
    await page.getByRole("heading", { name: "Chat not found" }).waitFor();
    await expectGood(page);
  });

  it("on an album and an artist of the catalog, known and unknown", async () => {
    const { page } = await signedIn({ expected: /status of 404/ });
    for (const [kind, missing] of [
      ["albums", "Album not found"],
      ["artists", "Artist not found"],
    ]) {
      await page.goto("/catalog?q=hana");
      await page.locator(`main a[href^="/catalog/${kind}/"]`).first().click();
      await page.waitForURL(`**/catalog/${kind}/*`);
      await page.getByRole("main").getByRole("listitem").first().waitFor();
      await expectGood(page);
      await page.goto(`/catalog/${kind}/unknown`);
      await page.getByRole("heading", { level: 1, name: missing }).waitFor();
      await expectGood(page);
    }
  });

  it("on the page of an error that nobody has caught", async () => {
    const { page } = await signedIn({ expected: /TypeError/ });
    await page.route("**/api/tasks/*", (route) => route.fulfill({ json: {} }));
    await page.goto(`/schedules/${crypto.randomUUID()}`);
    await page.getByRole("heading", { name: "Something went wrong" }).waitFor();
    await expectGood(page);
  });

  it("on a long list of development mails", async () => {
    const copy = await npmRun("dev", newFolder());
    const caller = client({ key: await copy.key() }, copy.url);
    const organization = await makeOrganization(caller);
    for (let n = 0; n < 12; n++) {
      const email = `guest-${n}@example.com`;
      const path = `/api/organizations/${organization}/invitations`;
      expect((await caller.post(path, { email, role: "member" })).status).toBe(201);
    }
    const { page } = await newTab({ url: copy.url });
    await page.goto("/dev/mail");
    await expect.poll(() => page.getByRole("listitem").count()).toBe(12);
    await expectGood(page);
  });
});

async function openMenu(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("button", { name }).first().press("Enter");
  await page.getByRole("menu").waitFor();
  expect(await page.getByRole("menuitem").count()).toBeGreaterThan(0);
}
