/**
 * A real browser at the console: Chromium, by playwright-core. Where there is none the tests are
 * left out and say what to install, unless `CI` or `REQUIRE_BROWSER=1` asks for them.
 */
import { randomUUID } from "node:crypto";
import axe, { type AxeResults } from "axe-core";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, vi } from "vitest";
import { sessionFor } from "./auth-session.ts";
import { createAccount } from "./clients.ts";
import { findChromium } from "./find-chromium.ts";
import { stack } from "./stack.ts";

// A page costs many times what a request costs, and tests share the machine with each other.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const executablePath = findChromium();
const required = Boolean(process.env.CI) || process.env.REQUIRE_BROWSER === "1";
const missing =
  "No Chromium was found: the browser tests are left out. Install one (Debian: apt-get install " +
  "chromium), or set CHROMIUM_PATH to its program.";

export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What a page must never do: errors on the console, forbidden or foreign requests. */
  readonly faults: string[];
}

export interface TabOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** Of another server than the one that all tests share. */
  readonly url?: string;
  /** Requests to other places that the test itself makes happen. */
  readonly allow?: (url: string) => boolean;
  /** Faults that the test itself makes happen, such as an answer of 401. */
  readonly expected?: RegExp;
}

export interface Browsing {
  /** A browser of its own: no session, no storage. Closed after the test, and judged by its faults. */
  newTab(options?: TabOptions): Promise<Tab>;
  /** One more tab of the same browser. */
  anotherTab(tab: Tab, options?: TabOptions): Promise<Tab>;
}

/** `describe` for tests in a browser. The tests get the browser; without one they are left out. */
export function describeInBrowser(title: string, body: (browsing: Browsing) => void): void {
  if (executablePath === undefined && !required) {
    console.warn(missing);
    describe.skip(`${title} (no Chromium: see CHROMIUM_PATH)`, () => {});
    return;
  }
  describe(title, () => {
    let browser: Browser;
    let tabs: { readonly tab: Tab; readonly options: TabOptions }[] = [];
    beforeAll(async () => {
      if (executablePath === undefined) throw new Error(missing);
      browser = await chromium.launch({
        executablePath,
        args: ["--disable-gpu", "--disable-quic"],
      });
    });
    afterAll(() => browser?.close());
    afterEach(async () => {
      const ended = tabs;
      tabs = [];
      const faults = ended.flatMap(({ tab, options }) =>
        tab.faults.filter((fault) => !options.expected?.test(fault)),
      );
      for (const context of new Set(ended.map(({ tab }) => tab.context))) await context.close();
      expect(faults).toEqual([]);
    });

    const watch = async (context: BrowserContext, options: TabOptions): Promise<Tab> => {
      const page = await context.newPage();
      // A page that is slow is not a page that is broken.
      page.setDefaultTimeout(60_000);
      const tab = { page, context, faults: watchFaults(page, options) };
      tabs.push({ tab, options });
      return tab;
    };
    body({
      newTab: async (options = {}) => {
        const { colorScheme = "light", width = 1280, height = 800 } = options;
        const context = await browser.newContext({
          baseURL: options.url ?? stack.url,
          colorScheme,
          viewport: { width, height },
          reducedMotion: "reduce",
        });
        await context.grantPermissions(["clipboard-read", "clipboard-write"]);
        return watch(context, options);
      },
      anotherTab: (tab, options = {}) => watch(tab.context, options),
    });
  });
}

function watchFaults(page: Page, { url = stack.url, allow }: TabOptions): string[] {
  const faults: string[] = [];
  // A violation of the policy and a failed request are errors on the console, too.
  page.on("console", (message) => {
    if (message.type() === "error") {
      faults.push(`console: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    const isOwn = asked.startsWith(`${url}/`) || /^(data|blob):/.test(asked);
    if (!isOwn && !allow?.(asked)) faults.push(`foreign request: ${asked}`);
  });
  return faults;
}

export type SignedIn = Awaited<ReturnType<typeof signIn>>;

/**
 * Signs a new person in without the forms: the browser gets a session of the auth server, as if it
 * had signed in before. The forms have tests of their own.
 */
export async function signIn(tab: Tab, url: string = stack.url) {
  const email = `${randomUUID()}@example.com`;
  const { id } = await createAccount({ email });
  const session = await sessionFor(email);
  await restoreSession(tab, session, url);
  return { id, email, bearer: session.access_token };
}

/** Gives all tabs of a browser a session, once, as if from an earlier visit to the server. */
export async function restoreSession({ context }: Tab, session: object, url = stack.url) {
  await context.addInitScript(
    ([key, value, origin]) => {
      if (location.origin !== origin || localStorage.getItem("seeded") !== null) return;
      localStorage.setItem("seeded", "1");
      localStorage.setItem(key, value);
    },
    ["agent-platform-session", JSON.stringify(session), url] as const,
  );
}

/** Returns axe's serious and critical findings as text. It runs outside of the page's policy. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}

/** The colour schemes and widths that every page is tested in. */
export const appearances = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
] as const;

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

/** Expects no serious finding of axe, and no scrolling sideways. */
export async function expectGood(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await sidewaysScroll(page)).toBe(0);
}
