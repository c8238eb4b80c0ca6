/**
 * The cost of an answer in the browser while it streams at 200 chunks a second: one with thoughts,
 * parallel tools, tables, formulas and highlighted code against the same number of plain words.
 */
import { writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../scripts/free-port.ts";
import { runNext } from "../scripts/run-next.ts";
import { type ScriptPart, startFakeOpenAI } from "../tests/support/fakes/openai.ts";
import { paced, RICH_ANSWER } from "../tests/support/fixtures/rich-answer.ts";
import { observe, seenBy } from "../tests/support/harness/page-costs.ts";
import { type AuthSession, newContext, signIn } from "./console-browser.ts";
import { type BenchContext, report } from "./context.ts";

const PER_SECOND = 200;
const RICH_TEXT = RICH_ANSWER.repeat(3);
/** As many chunks as the rich text has. */
const PLAIN_TEXT = "words ".repeat(RICH_TEXT.length / 6);

interface Cost {
  /** Milliseconds of the main thread. */
  readonly busy: number;
  readonly longTasks: readonly number[];
}

export async function benchStreams(browser: Browser, context: BenchContext): Promise<void> {
  const model = await startFakeOpenAI();
  model.script("plain", () => paced(PLAIN_TEXT, PER_SECOND));
  model.script("rich", ({ step }) => (step === 0 ? thinkAndAct() : paced(RICH_TEXT, PER_SECOND)));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...context.env, PUBLIC_URL: url, OPENAI_BASE_URL: model.url };
  const distDir = process.env.NEXT_DIST_DIR || ".next";
  const server = await runNext({ mode: "start", port, distDir, env, output: "collect" });
  try {
    const session = await signIn(context, "streams@example.com");
    const plain = await streamInto(browser, url, session, "[script:plain]");
    const rich = await streamInto(browser, url, session, "[script:rich]");
    const long = await streamInto(browser, url, session, "[deltas:2000]");
    const what = `answer of ${Math.ceil(RICH_TEXT.length / 6)} chunks, ${PER_SECOND} a second`;
    report(`${what}: main thread, rich against plain`, "ms", rich.busy, plain.busy);
    for (const [name, { longTasks }] of [
      [`${what}, plain`, plain],
      [`${what}, rich`, rich],
      ["answer of 2000 deltas at once", long],
    ] as const) {
      const longest = Math.max(0, ...longTasks).toFixed(0);
      console.log(`${name}: ${longTasks.length} tasks over 50 ms, longest ${longest} ms`);
    }
  } finally {
    await server.stop();
    await model.close();
  }
}

/** Thoughts, then two tools at once, one with a long input that comes in pieces. */
async function* thinkAndAct(): AsyncGenerator<ScriptPart> {
  for (let line = 0; line < 100; line++) yield { reasoning: `Line ${line} of the statement. ` };
  yield { tool: "bash", input: { command: "echo 'track,net' > statement.csv" } };
  const content = "def total(rows):\n    return sum(rows)\n\n".repeat(60);
  yield { tool: "write", input: { filePath: "total.py", content }, pieces: 200 };
}

async function streamInto(
  browser: Browser,
  url: string,
  session: AuthSession,
  message: string,
): Promise<Cost> {
  const context = await newContext(browser, { session, url });
  const page = await context.newPage();
  await page.goto(`${url}/chat`, { waitUntil: "networkidle" });
  // The first turn loads what every turn needs.
  await send(page, "[deltas:3]");
  await observe(page);
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable");
  const spent = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const before = await spent();
  const trace = process.env.BENCH_TRACE_DIR;
  if (trace !== undefined) await browser.startTracing(page);
  await send(page, message);
  if (trace !== undefined) {
    writeFileSync(`${trace}/${message.replace(/\W+/g, "-")}.json`, await browser.stopTracing());
  }
  const cost = { busy: (await spent()) - before, longTasks: (await seenBy(page)).longTasks };
  await context.close();
  return cost;
}

/** Sends a message and waits for the end of its turn. */
async function send(page: Page, text: string): Promise<void> {
  const answers = await page.getByRole("article", { name: "Agent" }).count();
  await page.getByRole("textbox", { name: /^Message/ }).fill(text);
  await page.locator('button[aria-label="Send"]:enabled').click();
  await page.getByRole("article", { name: "Agent" }).nth(answers).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached", timeout: 120_000 });
}
