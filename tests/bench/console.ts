/**
 * What the console costs a browser, against a bare Next page with one text box: the script of the first
 * load, the time until the chat can be typed in on a slow phone, the delay of a key, and the long tasks
 * while an answer streams.
 */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findChromium } from "../support/harness/find-chromium.ts";
import { countScripts, observe, seenBy } from "../support/harness/page-costs.ts";
import { type Bench, type BenchContext, median, quantile, report } from "./context.ts";
import { TEXT } from "./turns.ts";

const PAGES = [
  ...["/", "/chat", "/artists", "/catalog", "/content", "/templates", "/runs", "/schedules"],
  ...["/usage", "/connectors", "/keys", "/playground", "/docs", "/settings", "/welcome"],
];
const ROUNDS = 5;
/** A phone of the middle class on a fair mobile network. */
const SLOW_CPU = 4;
const NETWORK = { latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };
const TYPED = "A message that is typed to see how long each of its keys takes";

const messageBox = (page: Page) => page.getByRole("textbox", { name: /^Message/ });

export const benchConsole: Bench = async (context) => {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.log("console: no Chromium was found (CHROMIUM_PATH)");
    return;
  }
  const browser = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
  try {
    const session = await signIn(context);
    const bareBytes = await scriptBytes(browser, context.bareUrl, "/");
    for (const path of PAGES) {
      const bytes = await scriptBytes(browser, context.url, path, session);
      report(`console ${path}: script of the first load, gzip`, "kB", bytes / 1e3, bareBytes / 1e3);
    }
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await timeToType(browser, `${context.url}/chat`, session));
      bare.push(await timeToType(browser, context.bareUrl));
    }
    const slow = `${SLOW_CPU}x slower CPU, 10 Mbit/s`;
    report(`chat can be typed in, ${slow}, p50`, "ms", median(ours), median(bare));
    await typingAndStreaming(browser, context, session);
  } finally {
    await browser.close();
  }
};

/** Signs a new person in by the code that the auth server would mail, and returns the session as JSON. */
async function signIn({ env }: BenchContext): Promise<string> {
  const ask = async (path: string, key: string | undefined, body: unknown) => {
    const headers = { apikey: key ?? "", "content-type": "application/json" };
    const asked = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(`${env.SUPABASE_URL}/auth/v1/${path}`, asked)).json();
  };
  const email = "bench@example.com";
  const link = { type: "magiclink", email };
  const { email_otp: token } = await ask("admin/generate_link", env.SUPABASE_SECRET_KEY, link);
  const code = { type: "email", email, token };
  return JSON.stringify(await ask("verify", env.SUPABASE_PUBLISHABLE_KEY, code));
}

/** A browser without a cache of earlier pages, signed in if there is a session. */
async function newContext(browser: Browser, session?: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  if (session !== undefined) {
    await context.addInitScript(
      (value) => localStorage.setItem("agent-platform-session", value),
      session,
    );
  }
  return context;
}

async function scriptBytes(
  browser: Browser,
  url: string,
  path: string,
  session?: string,
): Promise<number> {
  const context = await newContext(browser, session);
  const page = await context.newPage();
  const sizes = countScripts(page);
  await page.goto(url + path, { waitUntil: "networkidle" });
  const total = (await sizes()).reduce((sum, bytes) => sum + bytes, 0);
  await context.close();
  return total;
}

/** Milliseconds from the navigation until the text box takes text. */
async function timeToType(browser: Browser, url: string, session?: string): Promise<number> {
  const context = await newContext(browser, session);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", { offline: false, ...NETWORK });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOW_CPU });
  const started = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await messageBox(page).fill("a");
  const taken = performance.now() - started;
  await context.close();
  return taken;
}

async function typingAndStreaming(
  browser: Browser,
  context: BenchContext,
  session: string,
): Promise<void> {
  const open = async (url: string, signedIn?: string) => {
    const page = await (await newContext(browser, signedIn)).newPage();
    await page.goto(url, { waitUntil: "networkidle" });
    await observe(page);
    return page;
  };
  const [ours, bare] = [await open(`${context.url}/chat`, session), await open(context.bareUrl)];
  const [oursKeys, bareKeys] = [await typeInto(ours), await typeInto(bare)];
  for (const q of [0.5, 0.95]) {
    const what = `chat: key to frame, p${q * 100}`;
    report(what, "ms", quantile(oursKeys, q), quantile(bareKeys, q));
  }
  await messageBox(ours).fill(TEXT);
  const before = (await seenBy(ours)).longTasks.length;
  await messageBox(ours).press("Enter");
  await ours.waitForURL(/\/chat\/.+/);
  await ours.getByRole("article").last().getByText(" 200").waitFor();
  const tasks = (await seenBy(ours)).longTasks.slice(before);
  const longest = tasks.length === 0 ? 0 : Math.max(...tasks);
  console.log(
    `an answer of 200 chunks, new chat: ${tasks.length} long tasks (over 50 ms), longest ${longest.toFixed(0)} ms`,
  );
}

async function typeInto(page: Page): Promise<number[]> {
  await messageBox(page).focus();
  await page.keyboard.type(TYPED, { delay: 30 });
  return (await seenBy(page)).delays;
}
