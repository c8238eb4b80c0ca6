import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser } from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";

async function create(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create key" }).click();
  return readNewKey(page);
}

/** The key that is shown this once; its dialog is put away. */
async function readNewKey(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog", { name: /^Key / });
  await dialog.getByRole("button", { name: "Copy key" }).click();
  await dialog.getByText("Copied").waitFor();
  const key = await page.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  return key;
}

const row = (page: Page, name: string) => page.getByRole("table").getByText(name, { exact: true });

const statusOf = async (key: string) => (await client({ key }).get("/api/sessions")).status;

describeInBrowser("the keys", ({ signedIn }) => {
  it("a key is made, shown once, used, revoked, and refused", async () => {
    const { page } = await signedIn();
    await page.goto("/keys");
    const key = await create(page, "release script");
    expect(key).toMatch(/^ap_[A-Za-z0-9]{49}$/);
    expect(await statusOf(key)).toBe(200);

    await page.reload();
    await row(page, "release script").waitFor();
    expect(await page.content()).not.toContain(key);

    await page.getByRole("button", { name: "Revoke release script" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("heading", { name: "No keys yet" }).waitFor();
    // Not lost with the row that had it.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(await statusOf(key)).toBe(401);
  });

  it("rotation gives another key while the old one works on for its grace", async () => {
    const { page } = await signedIn();
    await page.goto("/keys");
    const old = await create(page, "server");
    await page.getByRole("button", { name: "Rotate server" }).click();
    await page.getByLabel("The old key stops working").selectOption("After 1 hour");
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    const fresh = await readNewKey(page);
    expect(fresh).not.toBe(old);
    expect(await statusOf(old)).toBe(200);
    expect(await statusOf(fresh)).toBe(200);
  });

  it("a hostile name is shown as text, and a huge one does not widen the page", async () => {
    const { page } = await signedIn({ width: 360 });
    await page.goto("/keys");
    const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
    await create(page, hostile);
    await row(page, hostile).waitFor();
    await create(page, "x".repeat(100));
    await row(page, "x".repeat(100)).waitFor();
    const isWide = () => document.documentElement.scrollWidth > window.innerWidth;
    expect(await page.evaluate(isWide)).toBe(false);
  });
});
