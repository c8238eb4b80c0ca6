/**
 * Prints the product beside LangGraph's and Mastra's servers and a bare `streamText` route: the same
 * scripted model over HTTP, the same client, interleaved rounds. Started by `npm run bench:peers`,
 * which provides the database. In parentheses is the ratio to the best peer. A cell is `failed` where a
 * target did not start or answer, and a note gives the reason. `--picture FILE` also draws the figures as an SVG.
 */
import { writeFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { parseArgs } from "node:util";
import { startFakeOpenAI } from "../../tests/support/fakes/openai.ts";
import { buildBare } from "../bare-server.ts";
import { reportCommits } from "./commit.ts";
import { recoveryOf } from "./crash.ts";
import { installPeers, versions } from "./install.ts";
import { AT_ONCE, DELTAS, type Figure, type Figures, measure, type Started } from "./measure.ts";
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
const figures = new Map<string, Figures>();
const startFailures = new Map<string, Error>();
try {
  for (const target of targets) {
    try {
      started.push({ ...target, running: await target.start() });
    } catch (error) {
      startFailures.set(target.name, asError(error));
    }
  }
  console.log("Measuring. This takes about ten minutes…");
  for (const [{ name }, found] of await measure(started)) figures.set(name, found);
} finally {
  for (const { running } of started) await running.kill();
}
const recoveries = new Map<Target, string | Error>();
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
  try {
    const ms = await recoveryOf(target, model);
    const text = ms === undefined ? "lost" : `continues after ${(ms / 1000).toFixed(1)} s`;
    recoveries.set(target, text);
  } catch (error) {
    recoveries.set(target, asError(error));
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function figureOf({ name }: Target, column: keyof Figures): Figure {
  return startFailures.get(name) ?? figures.get(name)?.[column];
}

function printTable(): void {
  const header = [
    ["", "first delta p50", "p95", `${DELTAS} deltas p50`, `${TOOL_CALLS} no-op tools p50`],
    [`${TOOL_CALLS} shell commands p50`, `${AT_ONCE} at once`, "CPU a turn", "after kill -9"],
  ].flat();
  const peers = targets.filter(({ tools }) => tools === "no-op");
  const failures: Error[] = [];
  const failed = (error: Error) => {
    if (!failures.includes(error)) failures.push(error);
    return `failed [${failures.indexOf(error) + 1}]`;
  };
  /** A figure, and its ratio to the best of the peers: the servers that answer with an agent. */
  const cell = (target: Target, name: keyof Figures) => {
    const value = figureOf(target, name);
    if (value === undefined) return "–";
    if (value instanceof Error) return failed(value);
    const isRate = name === "perSecond";
    const others = peers.map((peer) => figureOf(peer, name)).filter(isNumber);
    const best = isRate ? Math.max(...others) : Math.min(...others);
    const ratio = others.length === 0 ? "" : ` (${(value / best).toFixed(2)})`;
    return `${value.toFixed(1)} ${isRate ? "/s" : "ms"}${ratio}`;
  };
  const columns = ["firstP50", "firstP95", "total", "noOpTools"] as const;
  const load = ["shellTools", "perSecond", "cpu"] as const;
  const rows = targets.map((target) => {
    const cells = [...columns, ...load].map((name) => cell(target, name));
    const recovery = recoveries.get(target) ?? "–";
    return [target.name, ...cells, recovery instanceof Error ? failed(recovery) : recovery];
  });
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  console.log([line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n"));
  for (const [place, { message }] of failures.entries()) {
    console.log(`\n[${place + 1}] ${message.replaceAll("\n", " ")}`);
  }
}

function isNumber(figure: Figure): figure is number {
  return typeof figure === "number";
}

function drawFigures(): string {
  const panel = (title: string, unit: string, column: keyof Figures) => ({
    title,
    unit,
    bars: targets.map((target) => ({
      name: target.name,
      value: [figureOf(target, column)].find(isNumber),
    })),
  });
  return draw(
    [
      panel("First delta, p50 (less is better)", "ms", "firstP50"),
      panel(`${DELTAS} deltas, p50 (less is better)`, "ms", "total"),
      panel(
        `${TOOL_CALLS} no-op tool calls and an answer, p50 (less is better)`,
        "ms",
        "noOpTools",
      ),
      panel(`${AT_ONCE} turns at once (more is better)`, "turns/s", "perSecond"),
    ],
    "product",
  );
}
