/**
 * Shares a limited number of slots fairly between accounts: sandbox processes, renderings, model
 * calls, requests, streams.
 *
 * - An account may take another slot only while it holds fewer than are free. So one account alone
 *   gets half of the slots, two get a third each, and an account that holds none starts at once
 *   whatever the others do, until there are more busy accounts than a few.
 * - Accounts that wait take turns; the callers of one account start in the order of their arrival.
 * - Waiting is bounded twice: by the number of callers of one account and by a deadline for each.
 */
export interface FairQueueLimits {
  /** Slots of all accounts together. */
  readonly slots: number;
  /** Most slots of one account, where that is less than its fair share. */
  readonly slotsPerAccount?: number;
  /** Most callers of one account that wait at a time; the next one is refused at once. */
  readonly waitersPerAccount: number;
  /** Longest wait of one caller. */
  readonly maxWaitMs: number;
}

/** The account has too many callers in line (`full`), or the wait took too long (`timeout`). */
export class QueueRefusal extends Error {
  override readonly name = "QueueRefusal";
  readonly reason: "full" | "timeout";
  constructor(reason: QueueRefusal["reason"]) {
    super(reason === "full" ? "Too many callers are waiting" : "The wait for a slot took too long");
    this.reason = reason;
  }
}

/** Compares the name, because the durable engine's bundle has a class of its own. */
export function isQueueRefusal(error: unknown): error is QueueRefusal {
  return error instanceof Error && error.name === "QueueRefusal";
}

type Release = () => void;

interface Waiter {
  readonly start: () => void;
}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Slots that each account holds; accounts without any are absent. */
  readonly #held = new Map<string, number>();
  /** Waiting callers of each account. The order of the keys is the order of the turns. */
  readonly #lines = new Map<string, Waiter[]>();
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** True when work of this account would start at once. */
  isOpen(accountId: string): boolean {
    const held = this.#held.get(accountId) ?? 0;
    const { slots, slotsPerAccount = slots } = this.#limits;
    return held < Math.min(slotsPerAccount, slots - this.#running);
  }

  /**
   * Resolves when the account has a slot for this caller, to the function that gives it back.
   * @throws QueueRefusal when the bound is reached; the signal's reason when it is aborted first
   */
  acquire(accountId: string, signal?: AbortSignal): Promise<Release> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.isOpen(accountId)) return resolve(this.#take(accountId));
      const line = this.#lines.get(accountId) ?? [];
      if (line.length >= this.#limits.waitersPerAccount) return reject(new QueueRefusal("full"));
      const settle = () => {
        clearTimeout(deadline);
        signal?.removeEventListener("abort", abort);
      };
      const leave = (reason: unknown) => {
        settle();
        this.#remove(accountId, waiter);
        reject(reason);
      };
      const waiter: Waiter = {
        start: () => {
          settle();
          resolve(this.#take(accountId));
        },
      };
      const abort = () => leave(signal?.reason);
      const deadline = setTimeout(() => leave(new QueueRefusal("timeout")), this.#limits.maxWaitMs);
      signal?.addEventListener("abort", abort, { once: true });
      this.#lines.set(accountId, line);
      line.push(waiter);
    });
  }

  /** Runs the work in a slot of the account. @throws as `acquire`, and what the work throws */
  async run<T>(
    accountId: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const release = await this.acquire(accountId, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #take(accountId: string): Release {
    this.#running += 1;
    this.#held.set(accountId, (this.#held.get(accountId) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#running -= 1;
      const left = (this.#held.get(accountId) ?? 0) - 1;
      if (left > 0) this.#held.set(accountId, left);
      else this.#held.delete(accountId);
      this.#startWaiting();
    };
  }

  #startWaiting(): void {
    for (;;) {
      const next = [...this.#lines.keys()].find((accountId) => this.isOpen(accountId));
      if (next === undefined) return;
      const line = this.#lines.get(next) ?? [];
      const waiter = line.shift();
      // To the end of the turns.
      this.#lines.delete(next);
      if (line.length > 0) this.#lines.set(next, line);
      waiter?.start();
    }
  }

  #remove(accountId: string, waiter: Waiter): void {
    const line = this.#lines.get(accountId);
    if (!line) return;
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.#lines.delete(accountId);
  }
}
