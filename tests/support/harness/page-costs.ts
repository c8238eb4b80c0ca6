/** The cost of a page in its browser: bytes of script, delays of keys, and long tasks. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";

/**
 * Counts the script of the page that is opened next; the returned function resolves to the gzip sizes of its
 * files. It reads them itself, because the browser forgets the bodies of a page that was left.
 */
export function countScripts(page: Page): () => Promise<number[]> {
  const addresses = new Set<string>();
  page.on("request", (request) => {
    if (request.isNavigationRequest()) addresses.clear();
    if (request.resourceType() === "script") addresses.add(request.url());
  });
  return () =>
    Promise.all(
      [...addresses].map(async (address) => {
        const response = await page.request.get(address);
        if (!response.ok()) throw new Error(`${address} is answered with ${response.status()}`);
        return gzipSync(await response.body()).length;
      }),
    );
}

/** Waits until the page loads nothing more, for 10 s at most: Next.js may leave a prefetch open. */
export const untilLoaded = (page: Page): Promise<void> =>
  page.waitForLoadState("networkidle", { timeout: 10_000 }).catch(() => {});

export interface Seen {
  /** Milliseconds from each key to the frame that follows it. */
  readonly delays: number[];
  /** Milliseconds of each task that took over 50 ms. */
  readonly longTasks: number[];
}

/** Observes the page until it navigates. */
export const observe = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const seen: Seen = { delays: [], longTasks: [] };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.longTasks.push(entry.duration);
    }).observe({ type: "longtask" });
    document.addEventListener(
      "keydown",
      ({ timeStamp }) => {
        requestAnimationFrame(() =>
          setTimeout(() => seen.delays.push(performance.now() - timeStamp)),
        );
      },
      { capture: true },
    );
  });

/** Returns the measurements since `observe`. */
export const seenBy = (page: Page): Promise<Seen> =>
  page.evaluate(() => (window as unknown as { seen: Seen }).seen);
