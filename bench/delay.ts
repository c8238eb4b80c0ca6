/**
 * How late a chunk is: from the moment the model's server writes a delta to the moment the client
 * has it, at a steady pace, through the durable turn and through the bare route.
 */
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../scripts/free-port.ts";
import { runNext } from "../scripts/run-next.ts";
import { startFakeOpenAI } from "../tests/support/fakes/openai.ts";
import { startBare } from "./bare-server.ts";
import { bareTurn, newChat, productTurn } from "./chat-client.ts";
import { type Bench, quantile, report } from "./context.ts";

const DELTAS = 300;
const PACE_MS = 10;
const WARM_UP = 50;

export const benchDelay: Bench = async (context) => {
  const model = await startFakeOpenAI();
  // Each delta is the time it was written, which the client compares with its own clock.
  model.script("paced", async function* () {
    for (let n = 0; n < DELTAS; n++) {
      await delay(PACE_MS);
      yield { text: `${performance.now()} ` };
    }
  });
  const port = await freePort();
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none" };
  const server = await runNext({
    mode: "start",
    port,
    distDir: process.env.NEXT_DIST_DIR || ".next",
    env: { ...context.env, ...settings, PUBLIC_URL: `http://127.0.0.1:${port}` },
    output: "collect",
  });
  const bare = await startBare({ ...settings, BARE_MODEL: "auto" });
  try {
    const there = { ...context, url: server.url, bareUrl: bare.url };
    const chat = await newChat(there);
    const ours = await delays(await productTurn(there, chat, "[script:paced]"));
    const theirs = await delays(await bareTurn(there, "[script:paced]"));
    report("a delta's delay, p50", "ms", quantile(ours, 0.5), quantile(theirs, 0.5));
    report("a delta's delay, p95", "ms", quantile(ours, 0.95), quantile(theirs, 0.95));
  } finally {
    bare.stop();
    await server.stop();
    await model.close();
  }
};

async function delays(response: Response): Promise<number[]> {
  if (!response.body) throw new Error("The answer has no body");
  const found: number[] = [];
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    const now = performance.now();
    for (const [, written] of decoder.decode(bytes).matchAll(/"delta":"([\d.]+) "/g)) {
      found.push(now - Number(written));
    }
  }
  if (found.length < DELTAS / 2) throw new Error(`Only ${found.length} deltas were seen`);
  return found.slice(WARM_UP);
}
