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
import { type AppError, appError } from "../contract/app-error.ts";
import { type Config, processShare } from "./config.ts";
import { observe, startTimer } from "./telemetry/metrics.ts";

export interface FairQueueLimits {
  /** The label of its metrics. */
  readonly name: string;
  /** The slots that all accounts share. */
  readonly slots: number;
  /** The maximum of one account, where that is less than its fair share. */
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

const RETRY_AFTER_SECONDS = "5";

/** Returns the error of a request that got no slot: 429 for a full queue, 503 for a timeout. */
export function queueRefused({ reason }: QueueRefusal): AppError {
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return reason === "full"
    ? appError("rate_limited", "Too many requests", { headers })
    : appError("unavailable", "Service temporarily unavailable", { headers });
}

type Release = () => void;

interface Waiter {
  readonly start: () => void;
  /** When it came, in the time of `performance.now()`. */
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

/** More than an account's turns and subagents make at a time, unless their limits are off. */
const MAX_WAITERS_PER_ACCOUNT = 1_000;

/** Creates the queues of a process. A queue that only one adapter uses is a field of that adapter. */
export type Queues = ReturnType<typeof createQueues>;

export function createQueues(settings: Config) {
  const { QUEUE_WAIT_MS, REQUESTS_AT_ONCE, MODEL_CALLS_AT_ONCE, RENDERS_AT_ONCE } = settings;
  const queue = (name: string, slots: number, waitersPerAccount: number, maxWaitMs: number) =>
    new FairQueue({ name, slots, waitersPerAccount, maxWaitMs });
  const renders = processShare(settings, RENDERS_AT_ONCE, 1);
  const streams = { slots: 4_000, slotsPerAccount: settings.ACCOUNT_STREAMS };
  return {
    /** The database connections of requests, which wait as long as a call of the database may take. */
    requests: queue("requests", REQUESTS_AT_ONCE, MAX_WAITERS_PER_ACCOUNT, 10_000),
    modelCalls: queue("model_calls", MODEL_CALLS_AT_ONCE, MAX_WAITERS_PER_ACCOUNT, QUEUE_WAIT_MS),
    /** No account can take all readers. A stream costs little memory and a query a second. */
    streams: new FairQueue({ name: "streams", ...streams, waitersPerAccount: 0, maxWaitMs: 0 }),
    /**
     * A rendering takes all processors for minutes, so more at a time would only delay each. More may wait
     * than `CONTENT_AT_ONCE` admits by default: an admitted run must not be refused here.
     */
    renderings: queue("renderings", renders, 200, 2 * QUEUE_WAIT_MS),
    /** Separate from renderings: a probe takes moments and must not wait for minutes. */
    probes: queue("probes", 4, 100, 60_000),
    /** Checks of output schemas and outputs, each in its own thread. */
    /** Documents that the agent reads. Each may take a gigabyte of memory. */
    documents: queue("documents", 2, MAX_WAITERS_PER_ACCOUNT, 120_000),
    outputChecks: queue("output_checks", 4, MAX_WAITERS_PER_ACCOUNT, 60_000),
    /** Bounds how many images are decoded at a time. */
    thumbnails: queue("thumbnails", 2, 100, 10_000),
    /** Bounds the memory of images of the web: each is held whole, because its size is not known before. */
    proxiedImages: queue("proxied_images", 16, 24, 10_000),
  };
}
