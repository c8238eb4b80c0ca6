import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, type Context, required, text, texts } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { type Case, readCases } from "./cases.ts";
import { startModelServer } from "./model-server.ts";
import { readRecordings, recordRun, writeJson } from "./recording.ts";
import { compare, type Result, runCase, tableOf } from "./results.ts";

export const evaluate: Command = {
  usage: [
    "eval run [--model ID] [--min-score 0..1] [--case NAME]... [--out FILE] [--record DIR] DIR",
    "eval compare A.json B.json",
    "eval replay --cases DIR --listen PORT [--model ID] [--case NAME]... [--strict] DIR",
  ],
  about:
    "Run the cases in a folder and print which pass; with --record, store the answers of the model. compare prints the differences of two results. replay is the model server of an installation: it gives the recorded answers, and prints where the requests differ from the recorded ones.",
  options: {
    ...{ model: { type: "string" }, "min-score": { type: "string" }, out: { type: "string" } },
    ...{ case: { type: "string", multiple: true }, record: { type: "string" } },
    ...{ cases: { type: "string" }, listen: { type: "string" }, strict: { type: "boolean" } },
  },
  async run(context) {
    const [action] = context.args;
    if (action === "run") return run(context);
    if (action === "replay") return replay(context);
    if (action === "compare") return compare(context);
    throw new UsageError("eval takes run, compare or replay");
  },
};

const CONCURRENCY = 3;

async function runAll(cases: readonly Case[], runOne: (given: Case) => Promise<void>) {
  const queue = cases[Symbol.iterator]();
  const work = async () => {
    for (const given of queue) await runOne(given);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

async function run(context: Context): Promise<number> {
  const { args, options, out } = context;
  const minScore = Number(options["min-score"] ?? 0);
  if (!(minScore >= 0 && minScore <= 1)) throw new UsageError("--min-score takes 0 to 1");
  const model = text(options.model);
  const folder = text(options.record);
  const cases = await readCases(required(args[1], "DIR"), texts(options.case));
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const started_at = new Date().toISOString();
  const file = text(options.out) ?? `eval-${started_at.replaceAll(/[:.]/g, "-")}.json`;
  const results: Result[] = [];
  const scoreOf = () => results.filter(({ passed }) => passed).length / cases.length;
  try {
    await runAll(cases, async (given) => {
      const result = await runCase(context, given, model, async (trace) => {
        if (folder === undefined) return;
        const recording = await recordRun(context, trace, given.prompt);
        await writeJson(join(folder, `${given.name}.json`), recording);
      });
      results.push(result);
    });
  } finally {
    // Cases that have ended before an interruption have been paid for.
    await writeJson(file, { started_at, model, score: scoreOf(), cases: results });
  }
  out.result({ file, score: scoreOf(), cases: results }, () => [...tableOf(results), file]);
  return scoreOf() < minScore ? 1 : 0;
}

/** Serves the recordings as a model, and runs their cases. */
async function replay(context: Context): Promise<number> {
  const { args, options, out } = context;
  const recordings = await readRecordings(required(args[1], "DIR"));
  const names = texts(options.case) ?? [...recordings.keys()];
  const cases = await readCases(required(options.cases, "--cases"), names);
  const results: Result[] = [];
  const port = Number(required(options.listen, "--listen"));
  const { server, steps } = await startModelServer(recordings, port);
  try {
    await runAll(cases, async (given) => {
      const model = text(options.model) ?? recordings.get(given.name)?.model;
      results.push(await runCase(context, given, model));
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
  const different = steps.filter(({ differences }) => differences.length > 0);
  out.result({ cases: results, steps: steps.length, different }, () => [
    ...different.flatMap(({ case: name, step, differences }) => [
      `${name}, step ${step}:`,
      ...differences.map((lines) => `  ${lines.replaceAll("\n", "\n    ")}`),
    ]),
    ...tableOf(results),
    `${different.length} of ${steps.length} requests differ from the recorded ones`,
  ]);
  const haveCompleted = results.every(({ run }) => run?.status === "completed");
  return haveCompleted && !(options.strict === true && different.length > 0) ? 0 : 1;
}
