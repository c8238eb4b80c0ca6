/**
 * Fires the scheduled prompts that are due, and starts their runs. Any number of servers may do so at
 * once, and any may die at any point: the database lets one of them make a firing, and a firing waits
 * there until its run has started.
 */
import { drain } from "../platform/drain.ts";
import { log } from "../platform/log.ts";
import { handOver } from "./hand-over.ts";
import { nextRun } from "./next-run.ts";
import { startTaken } from "./start-taken.ts";
import { dueTasks, type Firing, fireTask, takeFirings } from "./store.ts";

const BATCH = 100;
/** Runs that one server starts at a time: each provisions a sandbox. */
const MAX_STARTS = 4;

/**
 * Makes up for missed times with one firing, for the earliest of them.
 * @param now for tests; null, the default, is the database's clock
 * @returns the number of firings made and of runs started by this call, without runs that were handed
 * over to another service
 * @throws DatabaseUnavailable
 */
export async function fireDueTasks(
  now: Date | null = null,
): Promise<{ fired: number; started: number }> {
  return { fired: await fireAll(now), started: await startAll(now) };
}

async function fireAll(now: Date | null): Promise<number> {
  let fired = 0;
  for (;;) {
    const due = await dueTasks(now, BATCH);
    for (const { id, schedule, timezone, nextRunAt } of due.tasks) {
      const next = nextOf(schedule, timezone, due.now);
      if (await fireTask(id, nextRunAt, next, now)) fired += 1;
    }
    if (due.tasks.length < BATCH || drain().hasBegun) return fired;
  }
}

/** Returns null, which disables the task, for a time zone that this server no longer knows. */
function nextOf(schedule: string, timezone: string, now: Date): Date | null {
  try {
    return nextRun(schedule, timezone, now);
  } catch (error) {
    log().error({ err: error, schedule, timezone }, "a schedule cannot be read");
    return null;
  }
}

async function startAll(now: Date | null): Promise<number> {
  let started = 0;
  while (!drain().hasBegun) {
    const firings = await takeFirings(now, MAX_STARTS);
    const starts = await Promise.all(firings.map((firing) => start(firing, now)));
    started += starts.filter(Boolean).length;
    if (firings.length < MAX_STARTS) break;
  }
  return started;
}

async function start(firing: Firing, now: Date | null): Promise<boolean> {
  return !(await handOver(firing, now)) && startTaken(firing, now);
}
