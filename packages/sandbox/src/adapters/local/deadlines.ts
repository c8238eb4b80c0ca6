/**
 * The deadlines of the shell's command `timeout`. A program in WebAssembly and a loop of the shell keep the thread, so no
 * timer fires. A program therefore runs under the watchdog of `node:vm`, which ends it from another thread, and a
 * deadline is checked before each command of the shell. The jail's parent ends everything else.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createContext, Script } from "node:vm";

/** The shell restricts `performance` inside a command. */
const now = performance.now.bind(performance);

interface Deadline {
  /** On the clock of `performance.now`. */
  readonly at: number;
  readonly expire: () => void;
}

/** Gets in how many milliseconds the next deadline of the script is; null for none. */
export type Announce = (inMs: number | null) => void;

/** The deadlines around the running command. */
const pending = new AsyncLocalStorage<readonly Deadline[]>();
/** All deadlines of the script, of which some are in other parts of a pipe. */
const ofScript = new Set<Deadline>();

const nextOf = (deadlines: Iterable<Deadline>): number =>
  Math.min(...Array.from(deadlines, ({ at }) => at));

/** Must be called before each script: an earlier one may have left commands behind. */
export function forgetDeadlines(): void {
  ofScript.clear();
}

/** Runs a part of a script, which `expire` ends after a time if it keeps the thread. */
export async function withDeadline<Result>(
  ms: number,
  expire: () => void,
  announce: Announce,
  run: () => Promise<Result>,
): Promise<Result> {
  const deadline = { at: now() + ms, expire };
  const announceNext = () =>
    announce(ofScript.size === 0 ? null : Math.max(0, nextOf(ofScript) - now()));
  ofScript.add(deadline);
  announceNext();
  try {
    return await pending.run([...(pending.getStore() ?? []), deadline], run);
  } finally {
    ofScript.delete(deadline);
    announceNext();
  }
}

/** Ends the parts of the script around the running command whose deadlines have passed. */
export function checkDeadlines(): void {
  const deadlines = pending.getStore();
  if (deadlines) expireUntil(deadlines, now());
}

function expireUntil(deadlines: readonly Deadline[], time: number): void {
  for (const { at, expire } of deadlines) if (at <= time) expire();
}

/** The status of a program that SIGTERM has ended. */
export const TERMINATED = 143;

/** A program was ended at the deadline of a `timeout`. Its memory must no longer be used. */
export class DeadlineError extends Error {}

/** Runs work that keeps the thread. Throws a DeadlineError. */
export type Watchdog = <Result>(work: () => Result) => Result;

let watched: { readonly context: { work?: () => unknown }; readonly script: Script } | undefined;

/** Returns the watchdog that ends work of the running command at its next deadline. */
export function watchdogOfCommand(): Watchdog {
  const deadlines = pending.getStore() ?? [];
  if (deadlines.length === 0) return (work) => work();
  const end = nextOf(deadlines);
  return (work) => {
    watched ??= { context: createContext({}), script: new Script("work()") };
    watched.context.work = work;
    const timeout = Math.max(1, Math.ceil(end - now()));
    try {
      return watched.script.runInContext(watched.context, { timeout });
    } catch (error) {
      if (Reflect.get(Object(error), "code") !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      expireUntil(deadlines, end);
      throw new DeadlineError("The program was ended by timeout");
    } finally {
      delete watched.context.work;
    }
  };
}
