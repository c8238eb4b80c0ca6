import { processWide } from "./process-wide.ts";

/**
 * What must be done before the process exits, at the latest until `deadline` aborts. `served` resolves
 * when all requests have been answered, or with the deadline.
 */
type LastWork = (deadline: AbortSignal, served: Promise<unknown>) => Promise<void>;

/** The graceful end of this process: after SIGTERM it takes no new work and hands over what it has. */
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
    const outcomes = await Promise.allSettled(this.#work.map((work) => work(deadline, served)));
    const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, "The process did not drain");
  }
}

export const drain = () => processWide("drain", () => new Drain());
