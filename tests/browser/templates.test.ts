/** This file is long because each test is a way through one page. */
import { randomUUID } from "node:crypto";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Template, template } from "../../lib/templates/template.ts";
import { createTemplate, setFavorite, validTemplate } from "../support/fixtures/templates.ts";
import {
  describeInBrowser,
  expectGood,
  noteOf,
  signIn,
  type Tab,
} from "../support/harness/browser.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";

describeInBrowser("the page of templates", ({ newTab }) => {
  it("makes a template, changes it and deletes it, and makes it public only when told to", async () => {
    const tab = await newTab();
    const { caller, id } = await open(tab);
    const { page } = tab;
    const [title, changed] = [newTitle(), newTitle()];

    await newTemplate(page).click();
    const form = page.getByRole("dialog", { name: "New template" });
    await form.getByLabel("Title").fill(title);
    await form.getByLabel("Description").fill(validTemplate.description);
    await form.getByLabel("Prompt").fill(validTemplate.prompt);
    await form.getByLabel("Tags").pressSequentially("spring,tour");
    expect(await form.getByRole("switch", { name: "Private" }).isChecked()).toBe(true);
    await form.getByText("Only you and the people you share it with").waitFor();
    await form.getByLabel("Share with").fill("Friend@Example.com");
    await form.getByRole("button", { name: "Model: Default model" }).click();
    await page.getByRole("option").nth(1).click();
    await form.getByLabel("Output schema").fill('{"type": "object"}');
    await form.getByRole("button", { name: "Create template" }).click();
    const card = cardOf(page, title);
    await card.getByText("spring").waitFor();
    const [made] = await templatesOf(caller, id);
    expect(made?.output_schema).toEqual({ type: "object" });
    expect(made?.model).toBeTruthy();

    await card.getByRole("button", { name: `Edit ${title}` }).click();
    const change = page.getByRole("dialog", { name: "Edit template" });
    await change.getByText("friend@example.com").waitFor();
    await change.getByLabel("Title").fill(changed);
    await change.getByRole("button", { name: "Remove tour" }).click();
    await change.getByLabel("Output schema").fill("");
    await change.getByRole("button", { name: "Save" }).click();
    await cardOf(page, changed).waitFor();
    expect(await cardOf(page, title).count()).toBe(0);
    const stored = await templatesOf(caller, id);
    expect(stored[0]).not.toHaveProperty("output_schema");
    expect(stored).toMatchObject([
      {
        title: changed,
        model: made?.model,
        tags: ["spring"],
        is_private: true,
        shared_emails: ["friend@example.com"],
      },
    ]);

    await cardOf(page, changed)
      .getByRole("button", { name: `Delete ${changed}` })
      .click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    // The card is out of reach while the dialog is open, too.
    await expect.poll(() => templatesOf(caller, id)).toEqual([]);
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    await cardOf(page, changed).waitFor({ state: "detached" });

    const shown = newTitle();
    await newTemplate(page).click();
    await form.getByLabel("Title").fill(shown);
    await form.getByLabel("Description").fill(validTemplate.description);
    await form.getByLabel("Prompt").fill(validTemplate.prompt);
    await form.getByRole("switch", { name: "Private" }).uncheck();
    await form.getByText("everyone who uses this service can see this template").waitFor();
    expect(await form.getByLabel("Share with").count()).toBe(0);
    await form.getByRole("button", { name: "Create template" }).click();
    await cardOf(page, shown).waitFor();
    expect(await templatesOf(caller, id)).toMatchObject([{ title: shown, is_private: false }]);
  });

  it("starts a chat that has the prompt with the values of its variables in the box", async () => {
    const tab = await newTab();
    const { page } = tab;
    const title = newTitle();
    const prompt = "Sum up {period} for {artist}. Compare {artist} with {other act}.";
    const { caller } = await open(tab, (one) =>
      createTemplate(one, { title, prompt, is_private: true }),
    );
    await (await find(page, title)).getByRole("button", { name: "Use" }).click();
    const form = page.getByRole("dialog", { name: title });
    expect(await form.getByLabel("Period").inputValue()).toMatch(/^Q[1-4] 20\d\d$/);
    await form.getByLabel("Period").fill("May");
    await form.getByLabel("Artist").fill("$& Velvet {x}");
    await form.getByRole("button", { name: "Continue" }).click();
    const box = page.getByRole("textbox", { name: "Message" });
    const filled = "Sum up May for $& Velvet {x}. Compare $& Velvet {x} with {other act}.";
    await expect.poll(() => box.inputValue()).toBe(filled);
    expect((await caller.get("/api/sessions")).body).toMatchObject({ sessions: [] });
  });

  it("marks a favourite at once and takes it back when the API refuses", async () => {
    const tab = await newTab({ expected: /status of 503/ });
    const { page } = tab;
    const title = newTitle();
    const other = await createPerson();
    const { id } = await createTemplate(other.withKey, { title });
    await setFavorite(other.withKey, id, true);
    const { caller } = await open(tab);
    const star = (await find(page, title)).getByRole("button", { name: `Favourite: ${title}` });
    await star.click();
    await expect.poll(() => stateOf(star)).toEqual(["true", "2"]);
    await expect
      .poll(() => templatesOf(caller, other.id))
      .toMatchObject([{ id, is_favourite: true, favorites_count: 2 }]);

    await page.route("**/favorite", (route) =>
      route.fulfill({
        status: 503,
        json: { status: "error", error: "Not now", missing_fields: [] },
      }),
    );
    await star.click();
    await page.getByText("The service is temporarily unavailable").waitFor();
    expect(await stateOf(star)).toEqual(["true", "2"]);
  });

  it("filters by whose a template is and by what is searched", async () => {
    const tab = await newTab();
    const { page } = tab;
    const [mine, shared, open_] = [newTitle(), newTitle(), newTitle()];
    const other = await createPerson();
    await open(tab, async (caller, email) => {
      // The page learns from it whose templates are the caller's.
      await caller.post("/api/sessions", {});
      await createTemplate(caller, { title: mine, is_private: true });
      await createTemplate(other.withKey, {
        title: shared,
        is_private: true,
        share_emails: [email],
      });
      await createTemplate(other.withKey, { title: open_ });
    });
    for (const title of [mine, shared, open_]) await find(page, title);
    const choose = (name: string) => page.getByRole("radio", { name, exact: true }).check();
    const shown = async (title: string) => (await cardOf(page, title).count()) === 1;
    const which = () => Promise.all([mine, shared, open_].map(shown));

    await choose("Mine");
    expect(await which()).toEqual([true, false, false]);
    await choose("Shared");
    expect(await which()).toEqual([false, true, false]);
    expect(await cardOf(page, shared).getByRole("button", { name: /^Edit/ }).count()).toBe(0);
    await choose("Public");
    expect(await which()).toEqual([false, false, true]);
    await choose("All");
    await page.getByRole("main").getByRole("searchbox").fill(mine.toUpperCase());
    expect(await which()).toEqual([true, false, false]);
    await page.getByRole("main").getByRole("searchbox").fill(randomUUID());
    await page.getByText("No matching templates").waitFor();
  });

  it("has no findings, and says at each field of the form what is wrong with it", async () => {
    const tab = await newTab({ expected: /status of 400/ });
    const { page } = tab;
    const existing = newTitle();
    await open(tab, (caller) => createTemplate(caller, { title: existing, is_private: true }));
    // Excludes other tests' templates, of which there can be a hundred.
    await page.getByRole("main").getByRole("searchbox").fill(existing);
    const card = await find(page, existing);
    await expect.poll(() => page.getByRole("article").count()).toBe(1);
    await expectGood(page);
    await card.getByRole("button", { name: existing, exact: true }).click();
    await page.getByRole("dialog").waitFor();
    await expectGood(page);
    await page.getByRole("button", { name: "Close" }).click();
    await newTemplate(page).click();
    const form = page.getByRole("dialog");
    await form.waitFor();
    await expectGood(page);

    await form.getByLabel("Title").fill("ab");
    await form.getByLabel("Description").fill(validTemplate.description);
    await form.getByLabel("Output schema").fill("{type: object}");
    await form.getByLabel("Share with").fill("a@example.com,nobody");
    await form.getByRole("button", { name: "Create template" }).click();

    const title = form.getByLabel("Title");
    await expect.poll(() => noteOf(page, title)).toBe("Enter 3 to 50 characters.");
    for (const label of ["Title", "Prompt", "Output schema", "Share with"]) {
      expect(await form.getByLabel(label).getAttribute("aria-invalid")).toBe("true");
    }
    expect(await form.getByLabel("Description").getAttribute("aria-invalid")).toBeNull();

    // The text is restored after the dialog was left.
    await page.keyboard.press("Escape");
    await newTemplate(page).click();
    expect(await form.getByLabel("Title").inputValue()).toBe("ab");
  });
});

/** Opens the page for a new user, after `arrange` has created its data. */
async function open(
  tab: Tab,
  arrange: (caller: Client, email: string) => Promise<unknown> = async () => {},
): Promise<{ readonly caller: Client; readonly id: string }> {
  const { bearer, email, id } = await signIn(tab);
  const caller = client({ bearer });
  await arrange(caller, email);
  await tab.page.goto("/templates");
  await tab.page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
  return { caller, id };
}

const newTitle = (): string => `Plan ${randomUUID().slice(0, 13)}`;

/** The page's button; the empty state has another one in the middle. */
const newTemplate = (page: Page): Locator =>
  page.getByRole("button", { name: "New template" }).first();

const cardOf = (page: Page, title: string): Locator =>
  page.getByRole("article", { name: title, exact: true });

/** Other tests make public templates at the same time: it may be on a later page. */
async function find(page: Page, title: string): Promise<Locator> {
  const card = cardOf(page, title);
  const more = page.getByRole("button", { name: "Load more" });
  await expect
    .poll(
      async () => {
        if ((await card.count()) > 0) return true;
        if (await more.isVisible()) await more.click();
        return false;
      },
      { interval: 100 },
    )
    .toBe(true);
  return card;
}

const stateOf = async (star: Locator): Promise<readonly (string | null)[]> => [
  await star.getAttribute("aria-pressed"),
  await star.textContent(),
];

const listed = z.object({ templates: z.array(template) });

/** The templates of one creator, among the newest that the caller may see. */
async function templatesOf(caller: Client, creatorId: string): Promise<Template[]> {
  const { body } = await caller.get("/api/agents/templates?limit=100");
  return listed.parse(body).templates.filter(({ creator }) => creator.id === creatorId);
}
