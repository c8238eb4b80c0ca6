/**
 * Fires the scheduled prompts that are due, and starts their runs. Any number of servers may do so at
 * once, and any may die at any point: the database lets one of them make a firing, and a firing waits
 * there until its run has started.
 */
import { isAppError } from "../contract/app-error.ts";
import { drain } from "../platform/drain.ts";
import { log } from "../platform/log.ts";
import { nextRun } from "./next-run.ts";
import { startFiring, taskDeleted } from "./start-firing.ts";
import { dueTasks, endFiring, type Firing, fireTask, refuseFiring, takeFirings } from "./store.ts";

const BATCH = 100;
/** Runs that one server starts at a time: each provisions a sandbox. */
const MAX_STARTS = 4;
const RETRY_SECONDS = 30;
/** Errors that pass by themselves: too many active turns, and services that are out of order. */
const PASSING = ["rate_limited", "unavailable", "upstream_error", "upstream_timeout"];

/**
 * Times that were missed are made up by one firing, that of the earliest.
 * @param now for tests; null, the default, is the database's clock
 * @returns how many firings this call has made, and how many runs it has started
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

/** Never throws: a firing that is not settled is taken again after its lease. */
async function start(firing: Firing, now: Date | null): Promise<boolean> {
  const { id, taskRunId } = firing;
  try {
    const run = await startFiring(firing, log());
    if (!isAppError(run)) return true;
    if (run === taskDeleted) await endFiring(id, "CANCELED", run);
    else if (!PASSING.includes(run.code)) await endFiring(id, "FAILED", run);
    else if (drain().hasBegun) await refuseFiring(id, now, 0, null);
    else await refuseFiring(id, now, RETRY_SECONDS, run.message);
  } catch (error) {
    log().error({ err: error, taskRunId }, "a scheduled run could not be started");
  }
  return false;
}
