import { log } from "./log.ts";
import { processWide } from "./process-wide.ts";

/**
 * Work to finish before the process exits, at the latest when `deadline` aborts. `served` resolves when
 * all requests have been answered, or with the deadline.
 */
type LastWork = (deadline: AbortSignal, served: Promise<unknown>) => Promise<void>;

/** The graceful end of this process: after SIGTERM it takes no new work and releases its runs. */
class Drain {
  readonly #work: LastWork[] = [];
  #hasBegun = false;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  add(work: LastWork): void {
    this.#work.push(work);
  }

  /** Resolves when all work has ended. Rejects with an AggregateError if some of it failed. */
  async begin(deadline: AbortSignal, served: Promise<unknown>): Promise<void> {
    this.#hasBegun = true;
    const early = await this.#run(deadline, served);
    await served;
    // The requests that were still being answered may have added work.
    const failures = [...early, ...(await this.#run(deadline, served))];
    if (failures.length > 0) throw new AggregateError(failures, "The process did not drain");
  }

  /** Resolves with the reasons of failures when the work that was added until now has ended. */
  async #run(deadline: AbortSignal, served: Promise<unknown>): Promise<unknown[]> {
    const work = this.#work.splice(0);
    const outcomes = await Promise.allSettled(work.map((last) => last(deadline, served)));
    return outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  }
}

export const drain = () => processWide("drain", () => new Drain());

/**
 * Repeats work in this process, never twice at a time and not once the process drains. A failure is
 * logged, and the next time comes as planned.
 * @param intervalSeconds 0 starts nothing
 */
export function runPeriodically(
  name: string,
  intervalSeconds: number,
  work: () => Promise<unknown>,
): void {
  if (intervalSeconds === 0) return;
  let isRunning = false;
  setInterval(async () => {
    if (isRunning || drain().hasBegun) return;
    isRunning = true;
    await work().catch((error: unknown) => log().warn({ err: error }, `${name} failed`));
    isRunning = false;
  }, intervalSeconds * 1_000).unref();
}
