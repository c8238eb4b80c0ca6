/** What axe finds on the pages of the shell, in both colours and on a phone's width. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, seriousFindings, signIn } from "../support/harness/browser.ts";
import { createKey } from "../support/harness/clients.ts";

const appearances = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
  { colorScheme: "dark", width: 360 },
] as const;

async function expectGood(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  const isWide = () => document.documentElement.scrollWidth > window.innerWidth;
  expect(await page.evaluate(isWide)).toBe(false);
}

describeInBrowser("axe has no serious finding", ({ newTab }) => {
  it.each(appearances)("on pages without sign-in: $colorScheme, $width px", async (appearance) => {
    const { page } = await newTab({ ...appearance, expected: /status of 404/ });
    await page.goto("/");
    await page.getByRole("button", { name: "Send code" }).waitFor();
    await expectGood(page);
    await page.goto("/keys");
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await expectGood(page);
    await page.goto("/not/there");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await expectGood(page);
  });

  it.each(appearances)(
    "on pages of a signed-in account: $colorScheme, $width px",
    async (appearance) => {
      const tab = await newTab(appearance);
      const { page } = tab;
      const { id } = await signIn(tab);
      await page.goto("/keys");
      await page.getByRole("heading", { name: "No keys yet" }).waitFor();
      await expectGood(page);
      await createKey(id);
      await page.reload();
      await page.getByRole("button", { name: "Rotate test" }).click();
      await page.getByRole("dialog").waitFor();
      await expectGood(page);
      await page.goto("/connectors");
      await page.getByRole("heading", { name: "Audience and video" }).waitFor();
      await expectGood(page);
      if (appearance.width === 360) {
        await page.getByRole("button", { name: "Open navigation" }).click();
        await page.getByRole("dialog").waitFor();
        await expectGood(page);
      }
    },
  );

  it.each(appearances)("in the documentation: $colorScheme, $width px", async (appearance) => {
    const { page } = await newTab(appearance);
    for (const [path, title] of [
      ["/docs", "Documentation"],
      ["/docs/streaming", "Streaming and resuming"],
      ["/docs/reference/keys", "Keys"],
    ] as const) {
      await page.goto(path);
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      await expectGood(page);
    }
  });
});
