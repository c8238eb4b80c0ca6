/**
 * Prints the product's cost against bare baselines in the same run. Started by `npm run bench`,
 * which provides a production server; this adds the bare application. Names as arguments choose
 * benches: `npm run bench -- turns`.
 */
import { buildBare, startBare } from "./bare-server.ts";
import { benchCatalog } from "./catalog.ts";
import { benchChatRead } from "./chat-read.ts";
import { benchConsole } from "./console.ts";
import type { Bench, BenchContext } from "./context.ts";
import { benchCosts } from "./costs.ts";
import { benchDelay } from "./delay.ts";
import { benchGrowth } from "./growth.ts";
import { benchLists } from "./lists.ts";
import { benchResume } from "./resume.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchSignIn } from "./sign-in.ts";
import { benchStop } from "./stop.ts";
import { benchTasks } from "./tasks.ts";
import { benchTemplates } from "./templates.ts";
import { benchTurns } from "./turns.ts";
import { benchWorlds } from "./worlds.ts";
import { benchWrapper } from "./wrapper.ts";

const benches: Readonly<Record<string, Bench>> = {
  turns: benchTurns,
  costs: benchCosts,
  delay: benchDelay,
  resume: benchResume,
  stop: benchStop,
  worlds: benchWorlds,
  "chat-read": benchChatRead,
  wrapper: benchWrapper,
  "sign-in": benchSignIn,
  templates: benchTemplates,
  tasks: benchTasks,
  catalog: benchCatalog,
  growth: benchGrowth,
  console: benchConsole,
  lists: benchLists,
  sandbox: benchSandbox,
};

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
    pid: Number(setting("BENCH_PID")),
    barePid: bare.pid,
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
