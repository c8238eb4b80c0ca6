/** The ways in and out of the console, and what becomes of a session. */
import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { sessionFor } from "../support/harness/auth-session.ts";
import {
  describeInBrowser,
  expectGood,
  restoreSession,
  showNavigation,
} from "../support/harness/browser.ts";
import { messageBox } from "../support/harness/chat-browser.ts";
import { mailsTo } from "../support/harness/mailbox.ts";
import { stack } from "../support/harness/stack.ts";

/** Answers of 4xx that a test asks for are errors on the browser's console. */
const refused = /status of 40[013]/;

async function codeMailedTo(email: string): Promise<string> {
  const mail = (await mailsTo(email)).at(-1) ?? "";
  return /code is (\d+)/.exec(mail)?.[1] ?? "";
}

const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in", level: 1 });
const keysHeading = (page: Page) => page.getByRole("heading", { name: "API keys", level: 1 });

const stored = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

describeInBrowser("signing in", ({ newTab, anotherTab }) => {
  it("by a mailed code ends at the page that was asked for; a wrong code does not", async () => {
    const { page } = await newTab({ expected: refused });
    const email = `${randomUUID()}@example.com`;
    await page.goto("/keys");
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send code" }).click();
    // A separate field, not the address field with another label, because its name is read aloud.
    const hasFocus = () =>
      page.getByLabel("Code").evaluate((one) => one === document.activeElement);
    await expect.poll(hasFocus).toBe(true);
    await page.getByLabel("Code").fill("00000000");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("This code is incorrect or has expired").waitFor();
    await expectGood(page);
    await page.getByLabel("Code").fill(await codeMailedTo(email));
    await page.getByRole("button", { name: "Sign in" }).click();
    await keysHeading(page).waitFor();
    expect(new URL(page.url()).pathname).toBe("/keys");
    await showNavigation(page);
    await page.getByText(email).filter({ visible: true }).waitFor();
  });

  it("is offered without a password anywhere", async () => {
    const tab = await newTab();
    await tab.page.goto("/keys");
    await tab.page.getByRole("button", { name: "Send code" }).waitFor();
    expect(await tab.page.getByText(/password/i).count()).toBe(0);
    const other = await newTab();
    await restoreSession(other, await sessionFor());
    await other.page.goto("/chat");
    await showNavigation(other.page);
    await other.page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await other.page.getByRole("button", { name: /password/i }).count()).toBe(0);
  });

  it("by one click is offered in development only", async () => {
    const { page } = await newTab();
    await page.goto("/");
    await page.getByRole("button", { name: "Send code" }).waitFor();
    expect(await page.getByText("developer@example.com").count()).toBe(0);
    const origin = new URL(stack.url).origin;
    const answer = await fetch(`${origin}/auth/developer`, { method: "POST", headers: { origin } });
    expect(answer.status).toBe(404);
  });

  it("leaves nothing of the account in any tab when it signs out", async () => {
    const tab = await newTab();
    const email = `${randomUUID()}@example.com`;
    await restoreSession(tab, await sessionFor(email));
    const other = await anotherTab(tab);
    await Promise.all([tab.page.goto("/chat"), other.page.goto("/keys")]);
    await keysHeading(other.page).waitFor();
    await messageBox(tab.page).fill("A secret draft");
    const keep = (page: Page) =>
      page.evaluate((address) => {
        for (const storage of [localStorage, sessionStorage]) {
          for (const name of ["scope", "unsent", "invitations", "draft files"]) {
            storage.setItem(`${name} ${address}`, JSON.stringify([{ name: "Secret Artist" }]));
          }
          storage.setItem(`draft x${address} new`, "of somebody else");
          storage.setItem("browser-notifications", "on");
        }
      }, email);
    await Promise.all([keep(tab.page), keep(other.page)]);
    await expect.poll(() => stored(tab.page)).toContain("A secret draft");

    await showNavigation(tab.page);
    await tab.page.getByRole("button", { name: "Sign out" }).click();
    await signInHeading(tab.page).waitFor();
    await signInHeading(other.page).waitFor();
    for (const page of [tab.page, other.page]) {
      await expect.poll(() => stored(page)).not.toMatch(/secret/i);
      const left = await stored(page);
      expect(left).not.toContain(` ${email}`);
      expect(left).not.toContain("draft null");
      expect(left.match(/of somebody else/g)).toHaveLength(2);
      expect(left.match(/browser-notifications/g)).toHaveLength(2);
    }
    expect(await tab.page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
  });

  it("is out in every tab as soon as one signs out", async () => {
    const tab = await newTab();
    await restoreSession(tab, await sessionFor(`${randomUUID()}@example.com`));
    const other = await anotherTab(tab);
    await Promise.all([tab.page.goto("/keys"), other.page.goto("/connectors")]);
    await Promise.all([
      keysHeading(tab.page).waitFor(),
      other.page.getByRole("heading", { name: "Connectors", level: 1 }).waitFor(),
    ]);
    await showNavigation(tab.page);
    await tab.page.getByRole("button", { name: "Sign out" }).click();
    await signInHeading(tab.page).waitFor();
    await signInHeading(other.page).waitFor();
    await other.page.reload();
    await signInHeading(other.page).waitFor();
  });
});

describeInBrowser("a session", ({ newTab }) => {
  it("whose bearer the API refuses is renewed, unseen", async () => {
    const tab = await newTab({ expected: refused });
    const session = await sessionFor(`${randomUUID()}@example.com`);
    await restoreSession(tab, { ...session, access_token: `${session.access_token}x` });
    await tab.page.goto("/keys");
    await tab.page.getByRole("heading", { name: "No keys yet" }).waitFor();
  });

  it("that cannot be renewed ends at the sign-in, with the page kept in the address", async () => {
    const tab = await newTab({ expected: refused });
    const session = await sessionFor(`${randomUUID()}@example.com`);
    await restoreSession(tab, {
      ...session,
      access_token: `${session.access_token}x`,
      refresh_token: randomUUID(),
    });
    await tab.page.goto("/keys");
    await signInHeading(tab.page).waitFor();
    expect(new URL(tab.page.url()).pathname).toBe("/keys");
  });
});
