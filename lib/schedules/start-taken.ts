import { isAppError } from "../contract/app-error.ts";
import { drain } from "../platform/drain.ts";
import { log } from "../platform/log.ts";
import { startFiring, taskDeleted } from "./start-firing.ts";
import { endFiring, type Firing, refuseFiring } from "./store.ts";

const RETRY_SECONDS = 30;
/**
 * Errors that pass by themselves: too many active turns, services that are out of order, and a session that
 * another server has discarded, whose start of the same firing failed.
 */
const PASSING = [
  "rate_limited",
  "too_many_turns",
  "unavailable",
  "upstream_error",
  "upstream_timeout",
  "conflict",
];

/**
 * Starts the run of a firing that was leased, or records why it cannot be started. Returns whether it
 * has started. Never throws: a firing that is not settled is taken again after its lease.
 * @param now for tests; null is the database's clock
 */
export async function startTaken(firing: Firing, now: Date | null): Promise<boolean> {
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
