/**
 * The cost of the console in a browser, against a bare Next page with one text box: the script of
 * the first load, the time until the chat can be typed in on a slow phone, the delay of a key, and
 * the long tasks while an answer streams.
 */
import type { Browser, Page } from "playwright-core";
import { countScripts, observe, seenBy } from "../tests/support/harness/page-costs.ts";
import { type ContextOptions, newContext, signIn, withBrowser } from "./console-browser.ts";
import { benchStreams } from "./console-streams.ts";
import { type Bench, type BenchContext, median, quantile, report } from "./context.ts";

const PAGES = [
  ...["/", "/chat", "/artists", "/catalog", "/content", "/templates", "/runs", "/schedules"],
  ...["/usage", "/connectors", "/keys", "/playground", "/docs", "/settings"],
];
const ROUNDS = 5;
/** A phone of the middle class on a fair mobile network. */
const SLOW_CPU = 4;
const NETWORK = { latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };
const TYPED = "A message that is typed to see how long each of its keys takes";

const messageBox = (page: Page) => page.getByRole("textbox", { name: /^Message/ });

export const benchConsole: Bench = (context) =>
  withBrowser("console", async (browser) => {
    const { url, bareUrl } = context;
    const signedIn = { session: await signIn(context, "bench@example.com"), url };
    const bareBytes = await scriptBytes(browser, bareUrl);
    for (const path of PAGES) {
      const bytes = await scriptBytes(browser, url + path, signedIn);
      report(`console ${path}: script of the first load, gzip`, "kB", bytes / 1e3, bareBytes / 1e3);
    }
    const ours: TimesToType[] = [];
    const bare: TimesToType[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await timesToType(browser, `${url}/chat`, signedIn));
      bare.push(await timesToType(browser, bareUrl));
    }
    const bareReady = median(bare.map(({ ready }) => ready));
    for (const [what, taken] of [
      ["takes text", ours.map(({ typed }) => typed)],
      ["is ready to send", ours.map(({ ready }) => ready)],
    ] as const) {
      report(
        `chat ${what}, ${SLOW_CPU}x slower CPU, 10 Mbit/s, p50`,
        "ms",
        median(taken),
        bareReady,
      );
    }
    await measureTyping(browser, context, signedIn);
    await benchStreams(browser, context);
  });

async function scriptBytes(
  browser: Browser,
  address: string,
  signedIn?: ContextOptions,
): Promise<number> {
  const context = await newContext(browser, signedIn);
  const page = await context.newPage();
  const sizes = countScripts(page);
  await page.goto(address, { waitUntil: "networkidle" });
  const total = (await sizes()).reduce((sum, bytes) => sum + bytes, 0);
  await context.close();
  return total;
}

/** Milliseconds from the navigation. */
interface TimesToType {
  /** Until the text box takes text, which is kept. */
  readonly typed: number;
  /** Until the page has the text and can send it; on the bare page, the same as `typed`. */
  readonly ready: number;
}

async function timesToType(
  browser: Browser,
  address: string,
  signedIn?: ContextOptions,
): Promise<TimesToType> {
  const context = await newContext(browser, signedIn);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", { offline: false, ...NETWORK });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOW_CPU });
  const started = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await messageBox(page).fill("a");
  const typed = performance.now() - started;
  if (signedIn === undefined) {
    await context.close();
    return { typed, ready: typed };
  }
  await page.locator('button[aria-label="Send"]:enabled').waitFor();
  const ready = performance.now() - started;
  if ((await messageBox(page).inputValue()) !== "a") throw new Error("The text was lost");
  await context.close();
  return { typed, ready };
}

async function measureTyping(
  browser: Browser,
  context: BenchContext,
  signedIn: ContextOptions,
): Promise<void> {
  const open = async (address: string, options?: ContextOptions) => {
    const page = await (await newContext(browser, options)).newPage();
    await page.goto(address, { waitUntil: "networkidle" });
    await observe(page);
    return page;
  };
  const ours = await typeInto(await open(`${context.url}/chat`, signedIn));
  const bare = await typeInto(await open(context.bareUrl));
  const shown: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    shown.push(await timeToShow(await open(`${context.url}/chat`, signedIn)));
  }
  for (const q of [0.5, 0.95]) {
    const what = `chat: key to frame, p${q * 100}`;
    report(what, "ms", quantile(ours, q), quantile(bare, q));
    const sent = `chat: Enter to the first message, p${q * 100}, against bare's key`;
    report(sent, "ms", quantile(shown, q), quantile(bare, q));
  }
}

async function typeInto(page: Page): Promise<number[]> {
  await messageBox(page).focus();
  await page.keyboard.type(TYPED, { delay: 30 });
  return (await seenBy(page)).delays;
}

/** Milliseconds from Enter to the frame that shows the first message of a new chat. */
async function timeToShow(page: Page): Promise<number> {
  await messageBox(page).fill(TYPED);
  const shown = await page.evaluateHandle(() => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const look = (since: number) =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          if (document.querySelector("article")) resolve(performance.now() - since);
          else look(since);
        }),
      );
    document.addEventListener("keydown", ({ timeStamp }) => look(timeStamp), { capture: true });
    return { promise };
  });
  await messageBox(page).press("Enter");
  const taken = await shown.evaluate(({ promise }) => promise);
  await page.context().close();
  return taken;
}
