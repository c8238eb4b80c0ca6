/** What a page costs its browser: bytes of script, delays of keys, and long tasks. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";

/** Counts the script that the page loads from now on; the returned function resolves to the gzip sizes of its files. */
export function countScripts(page: Page): () => Promise<number[]> {
  const sizes: Promise<number>[] = [];
  page.on("response", (response) => {
    if (response.request().resourceType() !== "script") return;
    sizes.push(response.body().then((body) => gzipSync(body).length));
  });
  return () => Promise.all(sizes);
}

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

/** Returns what was seen since `observe`. */
export const seenBy = (page: Page): Promise<Seen> =>
  page.evaluate(() => (window as unknown as { seen: Seen }).seen);
