import { readFile } from "node:fs/promises";
import type { components } from "../../generated/api.ts";
import { type Context, required, take } from "../command.ts";
import { columns } from "../output.ts";
import type { Case } from "./cases.ts";

export interface Trace {
  readonly run: components["schemas"]["RunDetail"];
  readonly steps: readonly components["schemas"]["RunStep"][];
}

export interface Result {
  readonly case: string;
  readonly passed: boolean;
  /** Why it has not passed. */
  readonly reasons: readonly string[];
  /** Model calls, subagents included. */
  readonly calls: number;
  /** Null if its end is not known. */
  readonly run: Trace["run"] | null;
}

/** Runs a case as a headless run, which an abort cancels. @throws the signal's reason */
export async function runCase(
  { client, out, signal }: Context,
  given: Case,
  model: string | undefined,
  onTrace: (trace: Trace) => Promise<void> = async () => {},
): Promise<Result> {
  const path = { runId: "" };
  try {
    signal.throwIfAborted();
    const body = { ...(await given.body()), ...(model !== undefined && { model }) };
    // An abort does not break this request: without its id, the run could not be cancelled.
    path.runId = (await take(client.api.POST("/api/chat/runs", { body }))).runId;
    const { finishedAt } = await client.waitForRun(path.runId, { signal });
    if (finishedAt === null) throw new Error("The run waits for an approval or a client");
    const traced = client.api.GET("/api/chat/runs/{runId}/steps", { params: { path } });
    const trace = await take(traced);
    await onTrace(trace).catch((error) => out.error(`${given.name} is not recorded: ${error}`));
    const { run, steps } = trace;
    const { verdict, missing = [] } = run.verdicts.at(-1) ?? {};
    const passed = run.status === "completed" && verdict === "satisfied";
    const inner = steps.flatMap(({ tool_calls }) => tool_calls.flatMap((call) => call.steps ?? []));
    const reasons = run.error === null ? missing : [run.error];
    return { case: given.name, passed, reasons, calls: steps.length + inner.length, run };
  } catch (error) {
    const cancel = "/api/chat/runs/{runId}/cancel";
    if (path.runId !== "") await client.api.POST(cancel, { params: { path } }).catch(() => {});
    if (signal.aborted) throw error;
    const reasons = [error instanceof Error ? error.message : String(error)];
    return { case: given.name, passed: false, reasons, calls: 0, run: null };
  }
}

const HEAD = ["case", "passed", "cost", "calls", "seconds"];

const cellsOf = (all: readonly Result[], isTotal: boolean): string[] => {
  const passed = all.filter((result) => result.passed).length;
  const sum = (values: readonly (number | null | undefined)[]) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  return [
    isTotal ? `${passed} of ${all.length}` : passed > 0 ? "yes" : all.length > 0 ? "no" : "none",
    sum(all.map(({ run }) => run?.cost_usd)).toFixed(4),
    String(sum(all.map(({ calls }) => calls))),
    (sum(all.map(({ run }) => run?.duration_ms)) / 1_000).toFixed(1),
  ];
};

export function tableOf(results: readonly Result[]): string[] {
  const sorted = results.toSorted((one, other) => (one.case < other.case ? -1 : 1));
  const rows = sorted.map((result) => [result.case, ...cellsOf([result], false)]);
  return [
    ...columns([HEAD, ...rows, ["total", ...cellsOf(results, true)]]),
    ...sorted.flatMap(({ case: name, reasons }) => reasons.map((reason) => `${name}: ${reason}`)),
  ];
}

/** Prints the results of two runs, and where they differ, such as `yes → no`. */
export async function compare({ args, out }: Context): Promise<number> {
  const read = async (file: string): Promise<Result[]> =>
    JSON.parse(await readFile(file, "utf8")).cases;
  const before = await read(required(args[1], "A.json"));
  const after = await read(required(args[2], "B.json"));
  const changes = (one: readonly string[], other: readonly string[]) =>
    one.map((cell, place) => (cell === other[place] ? cell : `${cell} → ${other[place]}`));
  const names = [...new Set([...before, ...after].map((result) => result.case))].sort();
  const rows = names.map((name) => {
    const [one, other] = [before, after].map((all) => all.filter((result) => result.case === name));
    return [name, ...changes(cellsOf(one ?? [], false), cellsOf(other ?? [], false))];
  });
  const total = ["total", ...changes(cellsOf(before, true), cellsOf(after, true))];
  out.result({ cases: rows, total }, () => columns([HEAD, ...rows, total]));
  return 0;
}
