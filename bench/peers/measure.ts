/**
 * The same turns through every target, in interleaved rounds, which expose all to the same load of
 * the machine.
 */
import { setTimeout as delay } from "node:timers/promises";
import { readTurn } from "../chat-client.ts";
import { median, quantile, timed } from "../context.ts";
import { serversCpuMs } from "./cpu-time.ts";
import type { Running, Target, Turn } from "./target.ts";

export const AT_ONCE = 50;
export const DELTAS = 200;
const TEXT = `[deltas:${DELTAS}]`;
/** Ten calls of a tool that does nothing, then an answer; see `run.ts`. */
const NO_OP_TOOLS = "[script:no-op]";
/** Ten times `echo` in the sandbox, then an answer. */
const SHELL_TOOLS = "[tools:10]";

const WARM_UP = 10;
const TEXT_ROUNDS = 60;
const TOOL_ROUNDS = 15;
const WAVES = 6;
const WARM_UP_WAVES = 2;
/** In which a new session starts the process of its sandbox, as while its user writes the first message. */
const WRITING_MS = 2_000;
/** Background work of a turn that has been answered. */
const SETTLE_MS = 200;
/** LangGraph's development server writes its whole state 3 s after the last change. */
const CYCLE_PAUSE_MS = 4_000;

export interface Started extends Target {
  readonly running: Running;
}

/** The failure of a target that did not answer every turn; undefined where a target cannot do it. */
export type Figure = number | Error | undefined;

/** Milliseconds, except `perSecond`. */
export type Figures = Readonly<
  Record<
    "firstP50" | "firstP95" | "total" | "noOpTools" | "shellTools" | "perSecond" | "cpu",
    Figure
  >
>;

/** Returns the figures of each target. A target that fails is left out of the rest of that measurement. */
export async function measure(targets: readonly Started[]): Promise<Map<Started, Figures>> {
  const texts = await turnAfterTurn(targets, TEXT, TEXT_ROUNDS);
  const noOps = await turnAfterTurn(targets, NO_OP_TOOLS, TOOL_ROUNDS, ["no-op", "shell"]);
  const shells = await turnAfterTurn(targets, SHELL_TOOLS, TOOL_ROUNDS, ["shell"]);
  const waves = await manyAtOnce(targets);
  const figuresOf = (target: Started): Figures => {
    const figure = <T>(
      found: ReadonlyMap<Started, T | Error>,
      pick: (values: T) => Figure,
    ): Figure => {
      const values = found.get(target);
      if (values instanceof Error) return values;
      return values && pick(values);
    };
    const total = (turns: Times[]) => median(turns.map((turn) => turn.total));
    const first = (turns: Times[]) => turns.map((turn) => turn.first);
    return {
      firstP50: figure(texts, (turns) => median(first(turns))),
      firstP95: figure(texts, (turns) => quantile(first(turns), 0.95)),
      total: figure(texts, total),
      noOpTools: figure(noOps, total),
      shellTools: figure(shells, total),
      perSecond: figure(waves, (wave) => medianOf(wave.rates)),
      cpu: figure(waves, (wave) => medianOf(wave.cpu)),
    };
  };
  return new Map(targets.map((target) => [target, figuresOf(target)]));
}

type Times = Awaited<ReturnType<typeof read>>;

const medianOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : median(values);

/** Does some work for each target in sequence, and replaces the values of a target that fails by its error. */
async function forEachWorking<T>(
  found: Map<Started, T | Error>,
  work: (target: Started, values: T) => Promise<void>,
): Promise<void> {
  for (const [target, values] of found) {
    if (values instanceof Error) continue;
    try {
      await work(target, values);
    } catch (error) {
      found.set(target, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

async function turnAfterTurn(
  all: readonly Started[],
  text: string,
  rounds: number,
  tools: readonly Target["tools"][] = ["none", "no-op", "shell"],
) {
  const targets = all.filter((target) => tools.includes(target.tools));
  const found = new Map<Started, Times[] | Error>(targets.map((target) => [target, []]));
  for (let round = 0; round < rounds + WARM_UP; round++) {
    // New ones each time, because a history would be sent to the model.
    const opened = new Map<Started, Turn>();
    await forEachWorking(found, async (target) => {
      opened.set(target, await target.running.converse());
    });
    await delay(WRITING_MS);
    await forEachWorking(found, async (target, turns) => {
      const turn = opened.get(target);
      const taken = turn && (await read(target, turn, text));
      if (taken && round >= WARM_UP) turns.push(taken);
    });
  }
  return found;
}

async function manyAtOnce(targets: readonly Started[]) {
  const found = new Map<Started, { turns: Turn[]; rates: number[]; cpu: number[] } | Error>(
    targets.map((target) => [target, { turns: [], rates: [], cpu: [] }]),
  );
  await forEachWorking(found, async ({ running }, { turns }) => {
    while (turns.length < AT_ONCE) turns.push(await running.converse());
  });
  for (let wave = -WARM_UP_WAVES; wave < WAVES; wave++) {
    await delay(CYCLE_PAUSE_MS);
    await forEachWorking(found, async (target, { turns, rates, cpu }) => {
      const others = targets.flatMap(({ running }) =>
        running === target.running ? [] : (running.pid ?? []),
      );
      const before = serversCpuMs(others);
      const took = await timed(() => allOf(turns.map((turn) => read(target, turn, TEXT))));
      await delay(SETTLE_MS);
      const after = serversCpuMs(others);
      if (wave < 0) return;
      rates.push((1000 * AT_ONCE) / took);
      if (before !== undefined && after !== undefined) cpu.push((after - before) / AT_ONCE);
    });
  }
  return found;
}

/** Waits for all of them even if one fails, because no turn may run while the next target is measured. */
async function allOf(reads: readonly Promise<Times>[]): Promise<void> {
  const failed = (await Promise.allSettled(reads)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** @throws Error when the answer is not complete */
async function read({ name, delta }: Target, turn: Turn, text: string) {
  const started = performance.now();
  const taken = await readTurn(await turn(text), started, delta);
  const wanted = text === TEXT ? DELTAS : 1;
  if (taken.deltas < wanted) throw new Error(`${name}: ${taken.deltas} deltas of ${wanted}`);
  return taken;
}
