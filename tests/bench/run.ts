/**
 * Prints what the product costs against bare baselines in the same run. Started by `npm run bench`,
 * which provides a production server; this adds the bare application. Names as arguments choose
 * benches: `npm run bench -- turns`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "../../lib/launch/run-next.ts";
import { benchChatRead } from "./chat-read.ts";
import type { Bench, BenchContext } from "./context.ts";
import { benchTurns } from "./turns.ts";

const benches: Readonly<Record<string, Bench>> = {
  turns: benchTurns,
  "chat-read": benchChatRead,
};

const next = join(process.cwd(), "node_modules/next/dist/bin/next");
const bareApp = join(import.meta.dirname, "bare");

async function buildBare(): Promise<void> {
  const build = spawn(process.execPath, [next, "build", "--webpack", bareApp], { stdio: "ignore" });
  const [code] = await once(build, "exit");
  if (code !== 0) throw new Error("The bare application does not build");
}

async function startBare(): Promise<{ url: string; stop: () => void }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [next, "start", bareApp, "-p", String(port)], {
    stdio: "ignore",
  });
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${url}/api/nothing`).catch(() => null);
    if (answer?.ok) return { url, stop: () => child.kill("SIGKILL") };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The bare application does not start");
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start this with npm run bench`);
  return value;
}

const chosen = process.argv.slice(2).filter((name) => !name.startsWith("-"));
await buildBare();
const bare = await startBare();
try {
  const context: BenchContext = {
    url: setting("BENCH_URL"),
    key: setting("BENCH_API_KEY"),
    bareUrl: bare.url,
    databaseUrl: setting("DATABASE_URL"),
    env: Object.fromEntries(
      Object.entries(process.env).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    ),
  };
  console.log(
    `${"".padEnd(58)} ${"product".padStart(12)} ${"bare".padStart(12)}   ratio, difference`,
  );
  for (const [name, bench] of Object.entries(benches)) {
    if (chosen.length === 0 || chosen.includes(name)) await bench(context);
  }
} finally {
  bare.stop();
}
