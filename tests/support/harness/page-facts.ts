/** What tests of the pages look at. */
import type { Locator, Page } from "playwright-core";

/** Each page is cared for in these. */
export const appearances = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
] as const;

/** For `expect.poll`: how long a page may take on a machine that does much else. */
export const pollOptions = { timeout: 40_000, interval: 50 };

/** How far the page can be scrolled sideways, in pixels. */
export const sidewaysScroll = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const main = document.querySelector("main") ?? document.documentElement;
    return main.scrollWidth - main.clientWidth;
  });

/** The hint or the error of a field. */
export async function noteOf(page: Page, control: Locator): Promise<string | null> {
  const id = await control.getAttribute("aria-describedby");
  return id === null ? null : page.locator(`[id="${id}"]`).textContent();
}
