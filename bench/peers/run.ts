/**
 * Prints the product beside LangGraph's and Mastra's servers and a bare `streamText` route: the same
 * scripted model over HTTP, the same client, interleaved rounds. Started by `npm run bench:peers`,
 * which provides the database. In parentheses is the ratio to the best peer. `--picture FILE` also draws the
 * figures as an SVG.
 */
import { writeFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { parseArgs } from "node:util";
import { startFakeOpenAI } from "../../tests/support/fakes/openai.ts";
import { buildBare } from "../bare-server.ts";
import { reportCommits } from "./commit.ts";
import { recoveryOf } from "./crash.ts";
import { installPeers, versions } from "./install.ts";
import { AT_ONCE, DELTAS, type Figures, measure, type Started } from "./measure.ts";
import { noOp } from "./no-op.ts";
import { draw } from "./picture.ts";
import type { Target } from "./target.ts";
import { listTargets } from "./targets.ts";

const TOOL_CALLS = 10;
const { picture } = parseArgs({ options: { picture: { type: "string" } } }).values;
const env = Object.fromEntries(
  Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
);

await installPeers();
await buildBare();
const model = await startFakeOpenAI();
model.script("no-op", function* (call) {
  yield call.step < TOOL_CALLS ? noOp(call) : { text: "Done." };
});
const targets = listTargets({ env, key: env.BENCH_API_KEY ?? "" }, model.url);
const started: Started[] = [];
let figures: Figures[];
try {
  for (const target of targets) started.push({ ...target, running: await target.start() });
  console.log("Measuring. This takes about ten minutes…");
  figures = await measure(started);
} finally {
  for (const { running } of started) await running.kill();
}
const recoveries = new Map<Target, string>();
// In sequence, because the product's servers share a database and take over each other's runs.
for (const target of targets.filter(({ tools }) => tools === "shell")) await crash(target);
await Promise.all(targets.filter(({ tools }) => tools === "no-op").map(crash));
await model.close();

const [cpu] = cpus();
const used = ["@langchain/langgraph", "@langchain/langgraph-cli", "mastra", "@mastra/core"];
console.log(`
${cpus().length} × ${cpu?.model.trim()}, ${platform()} ${arch()}, Node ${process.version}
${used.map((name) => `${name} ${versions[name]}`).join(", ")}
`);
await reportCommits(env.DATABASE_URL ?? "");
printTable();
if (picture !== undefined) writeFileSync(picture, drawFigures());

async function crash(target: Target): Promise<void> {
  const ms = await recoveryOf(target, model);
  recoveries.set(target, ms === undefined ? "lost" : `continues after ${(ms / 1000).toFixed(1)} s`);
}

function printTable(): void {
  const header = [
    ["", "first delta p50", "p95", `${DELTAS} deltas p50`, `${TOOL_CALLS} no-op tools p50`],
    [`${TOOL_CALLS} shell commands p50`, `${AT_ONCE} at once`, "CPU a turn", "after kill -9"],
  ].flat();
  const peers = figures.filter((_, place) => targets[place]?.tools === "no-op");
  /** A figure, and its ratio to the best of the peers: the servers that answer with an agent. */
  const cell = (figure: Figures, name: keyof Figures) => {
    const value = figure[name];
    if (value === undefined) return "–";
    const isRate = name === "perSecond";
    const others = peers.flatMap((peer) => peer[name] ?? []);
    const best = isRate ? Math.max(...others) : Math.min(...others);
    const ratio = others.length === 0 ? "" : ` (${(value / best).toFixed(2)})`;
    return `${value.toFixed(1)} ${isRate ? "/s" : "ms"}${ratio}`;
  };
  const columns = ["firstP50", "firstP95", "total", "noOpTools"] as const;
  const load = ["shellTools", "perSecond", "cpu"] as const;
  const rows = targets.map((target, place) => {
    const cells = [...columns, ...load].map((name) => cell(figures[place] as Figures, name));
    return [target.name, ...cells, recoveries.get(target) ?? "–"];
  });
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  console.log([line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n"));
}

function drawFigures(): string {
  const panel = (title: string, unit: string, pick: (figure: Figures) => number | undefined) => ({
    title,
    unit,
    bars: targets.map(({ name }, place) => ({ name, value: pick(figures[place] as Figures) })),
  });
  return draw(
    [
      panel("First delta, p50 (less is better)", "ms", (figure) => figure.firstP50),
      panel(`${DELTAS} deltas, p50 (less is better)`, "ms", (figure) => figure.total),
      panel(
        `${TOOL_CALLS} no-op tool calls and an answer, p50 (less is better)`,
        "ms",
        (figure) => figure.noOpTools,
      ),
      panel(`${AT_ONCE} turns at once (more is better)`, "turns/s", (figure) => figure.perSecond),
    ],
    "product",
  );
}
