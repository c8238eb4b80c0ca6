/**
 * A real browser at the console: Chromium, by playwright-core. Where there is none the tests are
 * left out and say what to install, unless `CI` asks for them. Flows are at the width of a desktop, with
 * `SOAK=1` at the width of a phone.
 *
 * This file is long because a browser test needs all of it: a tab, a person, and the judgement of a page.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { afterEach, beforeAll, describe, expect } from "vitest";
import { findChromium } from "../../../scripts/find-chromium.ts";
import { sessionFor } from "./auth-session.ts";
import { createAccount, faultOfHeaders } from "./clients.ts";
import { stack } from "./stack.ts";

const executablePath = findChromium();
const required = Boolean(process.env.CI);
const missing =
  "No Chromium was found: the browser tests are left out. Install one (Debian: apt-get install " +
  "chromium-headless-shell), or set CHROMIUM_PATH to its program.";

/**
 * Disabled features of the browser. This list replaces Playwright's, which is its first part. The
 * others triple the processor time before a tab shows anything: popups of the address bar, which
 * are separate pages, and a process for a page that may come next.
 */
const withoutFeatures = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"],
  ...["HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"],
  ...["ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"],
  ...["OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"],
].join();

const VIEWPORT =
  process.env.SOAK === "1" ? { width: 390, height: 844 } : { width: 1280, height: 800 };

let launched: Browser | undefined;

/** The browser of this process, which ends with it: the files that run here one after another share it. */
async function runningBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(missing);
  if (!launched?.isConnected()) {
    launched = await chromium.launch({
      executablePath,
      args: ["--disable-gpu", "--disable-quic", `--disable-features=${withoutFeatures}`],
    });
  }
  return launched;
}

export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations by a page: errors on the console, forbidden or foreign requests. */
  readonly faults: string[];
}

export interface TabOptions {
  /** Default: a desktop, with `SOAK=1` a phone. */
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
  /** A new browser without session and storage. It is closed after the test, which fails if it has faults. */
  newTab(options?: TabOptions): Promise<Tab>;
  /** A browser of a new person who is signed in. */
  signedIn(options?: TabOptions): Promise<{ readonly tab: Tab; readonly page: Page } & SignedIn>;
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
      browser = await runningBrowser();
    });
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
    const newTab = async (options: TabOptions = {}) => {
      const { width = VIEWPORT.width, height = VIEWPORT.height } = options;
      const context = await browser.newContext({
        baseURL: options.url ?? stack.url,
        colorScheme: "light",
        viewport: { width, height },
        reducedMotion: "reduce",
      });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      return watch(context, options);
    };
    body({
      newTab,
      signedIn: async (options) => {
        const tab = await newTab(options);
        return { tab, page: tab.page, ...(await signIn(tab, options?.url)) };
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
    // The browser's viewer of PDFs is an extension.
    const isOwn =
      asked.startsWith(`${url}/`) || /^(data|blob|chrome|chrome-extension):/.test(asked);
    if (!isOwn && !allow?.(asked)) faults.push(`foreign request: ${asked}`);
  });
  page.on("response", (response) => {
    // A tab with other places may be of another site.
    if (allow) return;
    if (!response.url().startsWith(`${url}/`) || !response.request().isNavigationRequest()) return;
    const headers = { get: (name: string) => response.headers()[name] ?? null };
    const fault = faultOfHeaders(headers);
    if (fault !== null) faults.push(`${response.url()} ${fault}`);
  });
  return faults;
}

export type SignedIn = Awaited<ReturnType<typeof signIn>>;

/**
 * Signs a new person in without the forms: the browser gets a session of the auth server, as if it
 * had signed in before. Other tests cover the forms.
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
      // The browser's viewer of PDFs has no storage.
      if (location.origin !== origin || localStorage?.getItem("seeded") !== null) return;
      localStorage.setItem("seeded", "1");
      localStorage.setItem(key, value);
    },
    ["agent-platform-session", JSON.stringify(session), url] as const,
  );
}

/** Whether the page has the width of a phone, where its sidebar is a drawer. */
export const isPhone = (page: Page): boolean => (page.viewportSize()?.width ?? 0) < 768;

// Hidden from assistive technology while a dialog is above it.
const drawer = (page: Page) =>
  page.getByRole("dialog", { name: "Navigation", includeHidden: true });

/** Shows the navigation and the list of chats: on a phone, opens the drawer. */
export async function showNavigation(page: Page): Promise<void> {
  if (!isPhone(page) || (await drawer(page).isVisible())) return;
  await page.getByRole("button", { name: "Open navigation" }).click();
  await drawer(page).waitFor();
}

/** Shows the page again: on a phone, closes the drawer. */
export async function hideNavigation(page: Page): Promise<void> {
  if (!isPhone(page)) return;
  await page.getByRole("button", { name: "Close navigation" }).click();
  await drawer(page).waitFor({ state: "detached" });
}

type Width = 1280 | 360;

/** Whose outcome depends on the color scheme. */
const colorRules = ["color-contrast", "link-in-text-block"];

/** Whose outcome depends on the width. */
const widthRules = ["target-size", "scrollable-region-focusable"];

const only = (values: string[]): RunOptions => ({ runOnly: { type: "rule", values } });

/**
 * Without transitions, colors change to another scheme at once. Otherwise each element takes frames
 * to get there, and elements that inherit its color start when it has arrived.
 */
function setTransitions(on: boolean): void {
  const kept = document.adoptedStyleSheets.filter((sheet) => !("ofTests" in sheet));
  const off = Object.assign(new CSSStyleSheet(), { ofTests: true });
  off.replaceSync("*, ::before, ::after { transition: none !important }");
  document.adoptedStyleSheets = on ? kept : [...kept, off];
}

/** Floating layers above a page; a test that opens one checks it, too. */
const LAYERS = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox]";

/**
 * Expects no finding of axe and no scrolling sideways, at the width of a desktop and of a phone. Most of
 * axe's rules do not depend on the width: they are judged, light and dark, at the first; with `SOAK=1` at
 * each. The tab shows one appearance after the other and ends with the one that it had.
 *
 * @param widths where the state exists. Default: both, or only a phone's while the drawer is open
 */
export async function expectGood(page: Page, widths?: readonly Width[]) {
  if (widths === undefined) {
    return expectGood(page, (await drawer(page).isVisible()) ? [360] : [1280, 360]);
  }
  const viewport = page.viewportSize() ?? VIEWPORT;
  const layers = page.locator(LAYERS).filter({ visible: true });
  const opened = await layers.count();
  const faults: string[] = [];
  await page.evaluate(setTransitions, false);
  for (const width of widths) {
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ ...viewport, width });
    expect(await layers.count(), "dialogs and menus that stay open").toBe(opened);
    const isWhole = width === widths[0] || process.env.SOAK === "1";
    const found = await findings(page, isWhole ? {} : only(widthRules));
    if (isWhole) {
      await page.emulateMedia({ colorScheme: "dark" });
      // Names, roles and sizes do not depend on colors.
      const dark = await findings(page, only(colorRules));
      found.push(...dark.map((finding) => `dark: ${finding}`));
      await page.emulateMedia({ colorScheme: "light" });
    }
    faults.push(...found.map((finding) => `${width} px: ${finding}`));
    const beyond = await sidewaysScroll(page);
    if (beyond > 0) faults.push(`${width} px: scrolls sideways by ${beyond} px`);
  }
  await page.setViewportSize(viewport);
  await page.evaluate(setTransitions, true);
  expect(faults).toEqual([]);
}

/** A menu belongs to its button, and to no landmark. */
const MENUS = `axe.configure({ checks: [{ id: "region", options: {
  regionMatcher: "dialog, [role=dialog], [role=alertdialog], [role=menu], svg" } }] })`;
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/**
 * Returns axe's findings as text, whatever their impact. It runs outside of the page's policy.
 *
 * @param options the rules to check. Default: all that are not experimental
 */
async function findings(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource + MENUS);
  const { violations } = await page.evaluate<AxeResults, RunOptions>(
    async (options) => {
      await new Promise(requestAnimationFrame);
      // Colors in transition from one scheme to the other have less contrast. When an element's
      // colors have arrived, the ones its children inherit start to change.
      const running = () =>
        document
          .getAnimations()
          .filter(
            ({ effect, playState }) =>
              playState !== "finished" && effect?.getComputedTiming().endTime !== Infinity,
          );
      for (let left = running(); left.length > 0; left = running()) {
        for (const animation of left) animation.finish();
      }
      // @ts-expect-error axe is in the page.
      return window.axe.run(document, options);
    },
    {
      resultTypes: ["violations"],
      ...options,
      ...(options.runOnly ? {} : { rules: { "target-size": { enabled: true }, ...options.rules } }),
    },
  );
  return violations.map(
    ({ id, impact, nodes }) => `${id} (${impact}): ${nodes.map(({ html }) => html).join(" | ")}`,
  );
}

/** How far the page can be scrolled sideways, in pixels. */
export const sidewaysScroll = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const boxes = [document.documentElement, document.querySelector("main")];
    return Math.max(...boxes.map((box) => (box ? box.scrollWidth - box.clientWidth : 0)));
  });

/** The hint or the error of a field. */
export async function noteOf(page: Page, control: Locator): Promise<string | null> {
  const id = await control.getAttribute("aria-describedby");
  return id === null ? null : page.locator(`[id="${id}"]`).textContent();
}
