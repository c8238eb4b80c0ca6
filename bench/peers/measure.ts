/** The same turns through every target, in interleaved rounds, so that what else the machine does falls on all alike. */
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

/** Milliseconds, except `perSecond`. Undefined where a target cannot do it. */
export interface Figures {
  firstP50: number;
  firstP95: number;
  total: number;
  noOpTools: number | undefined;
  shellTools: number | undefined;
  perSecond: number;
  cpu: number | undefined;
}

export async function measure(targets: readonly Started[]): Promise<Figures[]> {
  const texts = await turnAfterTurn(targets, TEXT, TEXT_ROUNDS);
  const noOps = await turnAfterTurn(targets, NO_OP_TOOLS, TOOL_ROUNDS, ["no-op", "shell"]);
  const shells = await turnAfterTurn(targets, SHELL_TOOLS, TOOL_ROUNDS, ["shell"]);
  const waves = await manyAtOnce(targets);
  return targets.map((target) => {
    const first = texts.get(target)?.map((turn) => turn.first) ?? [];
    const total = (turns: typeof texts) => {
      const found = turns.get(target);
      return found && median(found.map((turn) => turn.total));
    };
    return {
      firstP50: median(first),
      firstP95: quantile(first, 0.95),
      total: total(texts) ?? Number.NaN,
      noOpTools: total(noOps),
      shellTools: total(shells),
      perSecond: waves.get(target)?.perSecond ?? Number.NaN,
      cpu: waves.get(target)?.cpu,
    };
  });
}

async function turnAfterTurn(
  all: readonly Started[],
  text: string,
  rounds: number,
  tools: readonly Target["tools"][] = ["none", "no-op", "shell"],
) {
  const targets = all.filter((target) => tools.includes(target.tools));
  const turns = new Map(
    targets.map((target) => [target, [] as Awaited<ReturnType<typeof read>>[]]),
  );
  for (let round = 0; round < rounds + WARM_UP; round++) {
    // New ones each time, because a history would be sent to the model.
    const opened = new Map<Started, Turn>();
    for (const target of targets) opened.set(target, await target.running.converse());
    await delay(WRITING_MS);
    for (const [target, turn] of opened) {
      const taken = await read(target, turn, text);
      if (round >= WARM_UP) turns.get(target)?.push(taken);
    }
  }
  return turns;
}

async function conversationsOf(target: Started, count: number): Promise<Turn[]> {
  const made: Turn[] = [];
  while (made.length < count) made.push(await target.running.converse());
  return made;
}

async function manyAtOnce(targets: readonly Started[]) {
  const conversations = new Map<Started, Turn[]>();
  for (const target of targets) conversations.set(target, await conversationsOf(target, AT_ONCE));
  const rates = new Map(targets.map((target) => [target, [] as number[]]));
  const cpu = new Map(targets.map((target) => [target, [] as number[]]));
  for (let wave = -WARM_UP_WAVES; wave < WAVES; wave++) {
    await delay(CYCLE_PAUSE_MS);
    for (const target of targets) {
      const others = targets.flatMap(({ running }) =>
        running === target.running ? [] : (running.pid ?? []),
      );
      const before = serversCpuMs(others);
      const turns = conversations.get(target) ?? [];
      const took = await timed(() => Promise.all(turns.map((turn) => read(target, turn, TEXT))));
      await delay(SETTLE_MS);
      const after = serversCpuMs(others);
      if (wave < 0) continue;
      rates.get(target)?.push((1000 * AT_ONCE) / took);
      if (before !== undefined && after !== undefined) {
        cpu.get(target)?.push((after - before) / AT_ONCE);
      }
    }
  }
  const medianOf = (values: readonly number[] = []) =>
    values.length === 0 ? undefined : median(values);
  return new Map(
    targets.map((target) => [
      target,
      { perSecond: medianOf(rates.get(target)), cpu: medianOf(cpu.get(target)) },
    ]),
  );
}

/** @throws Error when the answer is not complete */
async function read({ name, delta }: Target, turn: Turn, text: string) {
  const started = performance.now();
  const taken = await readTurn(await turn(text), started, delta);
  const wanted = text === TEXT ? DELTAS : 1;
  if (taken.deltas < wanted) throw new Error(`${name}: ${taken.deltas} deltas of ${wanted}`);
  return taken;
}
