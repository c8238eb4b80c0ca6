/**
 * Shares a limited number of slots fairly between accounts: sandbox processes, renderings, model
 * calls, requests, streams.
 *
 * - An account may take a slot only while it holds fewer slots than are free. One busy account thus
 *   gets half of the slots, two get a third each, and an account without a slot starts at once while
 *   any is free.
 * - Waiting accounts are served round-robin, and the callers of one account in their order of arrival.
 * - The number of waiting callers per account and the wait of each caller are bounded.
 */
import { observe, startTimer } from "./telemetry/metrics.ts";

export interface FairQueueLimits {
  /** The label of its metrics. */
  readonly name: string;
  /** The slots that all accounts share. */
  readonly slots: number;
  /** The maximum of one account, if it is less than its fair share. */
  readonly slotsPerAccount?: number;
  /** The maximum number of waiting callers of one account; further ones are refused at once. */
  readonly waitersPerAccount: number;
  /** The maximum wait of one caller. */
  readonly maxWaitMs: number;
}

/** The account has too many waiting callers (`full`), or the wait took too long (`timeout`). */
export class QueueRefusal extends Error {
  override readonly name = "QueueRefusal";
  readonly code = "QUEUE_REFUSED";
  readonly reason: "full" | "timeout";
  constructor(reason: QueueRefusal["reason"]) {
    super(reason === "full" ? "Too many callers are waiting" : "The wait for a slot took too long");
    this.reason = reason;
  }
}

/** Compares the code, because the bundle of the engine's steps has its own class. */
export function isQueueRefusal(error: unknown): error is QueueRefusal {
  return error instanceof Error && "code" in error && error.code === "QUEUE_REFUSED";
}

type Release = () => void;

interface Waiter {
  readonly start: () => void;
  /** The time of arrival, in the time of `performance.now()`. */
  readonly since: number;
}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** The number of slots that each account holds; accounts without any are absent. */
  readonly #held = new Map<string, number>();
  /** The waiting callers of each account. Accounts are served in the order of the keys. */
  readonly #lines = new Map<string, Waiter[]>();
  #running = 0;
  #isObserved = false;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Returns whether work of this account would start at once. */
  isOpen(accountId: string): boolean {
    const held = this.#held.get(accountId) ?? 0;
    const { slots, slotsPerAccount = slots } = this.#limits;
    return held < Math.min(slotsPerAccount, slots - this.#running);
  }

  /**
   * Resolves to the function that releases the slot, once the account has one for this caller.
   * @throws QueueRefusal when the bound is reached; the signal's reason when it is aborted first
   */
  acquire(accountId: string, signal?: AbortSignal): Promise<Release> {
    this.#observe();
    const queue = this.#limits.name;
    const measure = startTimer("agent_platform.queue.wait");
    return new Promise((resolve, reject) => {
      const admit = () => {
        measure({ queue, outcome: "admitted" });
        resolve(this.#take(accountId));
      };
      const refuse = (reason: unknown) => {
        measure({ queue, outcome: isQueueRefusal(reason) ? reason.reason : "aborted" });
        reject(reason);
      };
      if (signal?.aborted) return refuse(signal.reason);
      if (this.isOpen(accountId)) return admit();
      const line = this.#lines.get(accountId) ?? [];
      if (line.length >= this.#limits.waitersPerAccount) return refuse(new QueueRefusal("full"));
      const stopWaiting = () => {
        clearTimeout(deadline);
        signal?.removeEventListener("abort", abort);
      };
      const leave = (reason: unknown) => {
        stopWaiting();
        this.#remove(accountId, waiter);
        refuse(reason);
      };
      const waiter: Waiter = {
        start: () => {
          stopWaiting();
          admit();
        },
        since: performance.now(),
      };
      const abort = () => leave(signal?.reason);
      const deadline = setTimeout(() => leave(new QueueRefusal("timeout")), this.#limits.maxWaitMs);
      signal?.addEventListener("abort", abort, { once: true });
      this.#lines.set(accountId, line);
      line.push(waiter);
    });
  }

  /** Runs the work in a slot of the account. @throws as `acquire`, and the work's own errors */
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

  /** At the first use, because some queues are made and never used. */
  #observe(): void {
    if (this.#isObserved) return;
    this.#isObserved = true;
    const { name: queue, slots } = this.#limits;
    const waiting = () => [...this.#lines.values()].reduce((sum, line) => sum + line.length, 0);
    observe("agent_platform.queue.slots", () => slots, { queue });
    observe("agent_platform.queue.used", () => this.#running, { queue });
    observe("agent_platform.queue.waiting", waiting, { queue });
    const oldest = (now: number) =>
      [...this.#lines.values()].reduce((since, [one]) => Math.min(since, one?.since ?? now), now);
    const age = (now = performance.now()) => (now - oldest(now)) / 1_000;
    observe("agent_platform.queue.age", () => age(), { queue });
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
      // The account goes to the end of the round.
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
