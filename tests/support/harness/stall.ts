/**
 * How long the event loop stands still while something runs in this process: for as long, a server
 * answers nobody.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

const RESOLUTION_MS = 5;

/** The longest stall, in milliseconds, while `work` runs. */
async function longestStall(work: () => unknown): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // Until its timer has fired it measures nothing.
  while (histogram.count === 0) await delay(RESOLUTION_MS);
  histogram.reset();
  await work();
  const before = histogram.count;
  while (histogram.count === before) await delay(RESOLUTION_MS);
  histogram.disable();
  return histogram.max / 1e6;
}

/** What one request may take from all others, on a machine that has nothing else to do. */
const MAX_STALL_MS = 250;
/** What `referenceWork` takes on such a machine. */
const REFERENCE_MS = 50;

/** A fixed amount of the kind of work that the corpora ask for: parsing, matching and copying. */
function referenceWork(): void {
  const text = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ id: n, name: `n${n}` })));
  JSON.parse(text);
  text.match(/"name":"n\d+"/g);
}

/** A busy machine adds to a stall and never takes from it: one good measurement is proof. */
const ATTEMPTS = 3;

/**
 * Fails when the work stalls the event loop for longer than is accepted. A machine that is slow or
 * busy just now accepts more: a fixed piece of work is measured before and after each attempt.
 */
export async function expectNoStall(work: () => unknown): Promise<void> {
  const attempts: { readonly stall: number; readonly accepted: number }[] = [];
  while (attempts.length < ATTEMPTS) {
    const before = await longestStall(referenceWork);
    const stall = await longestStall(work);
    const reference = Math.max(before, await longestStall(referenceWork));
    const accepted = MAX_STALL_MS * Math.max(1, reference / REFERENCE_MS);
    if (stall < accepted) return;
    attempts.push({ stall, accepted });
  }
  throw new Error(`The event loop stood still: ${JSON.stringify(attempts)} (milliseconds)`);
}
