/**
 * Collects the requests of this process and stores them in batches, so no request waits for the database
 * because of the log. A process that crashes loses the requests since its last batch.
 */

import { log } from "@platform/kit/log";
import { continueTrace } from "@platform/kit/telemetry/spans";
import { waitUntil } from "@vercel/functions";
import type { NewRequest } from "./store.ts";

const INTERVAL_MS = 1_000;
const BATCH = 500;
/** About 3 MB. During a longer outage of the database, further requests are not logged. */
const MAX_WAITING = 10_000;

export class RequestLog {
  #waiting: NewRequest[] = [];
  #dropped = 0;
  #isScheduled = false;
  #flushed: Promise<void> = Promise.resolve();

  readonly #insert: (requests: readonly NewRequest[]) => Promise<unknown>;

  constructor(insert: (requests: readonly NewRequest[]) => Promise<unknown>) {
    this.#insert = insert;
  }

  /** Never throws, and does nothing that takes time. */
  record(request: NewRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(request);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    waitUntil(this.#storeLater());
  }

  async #storeLater(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS).unref());
    // It is not a part of the request that happened to be the first.
    await continueTrace(undefined, () => this.flush());
    this.#isScheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Resolves when the requests are stored, or kept for the next time. Never throws. */
  flush(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#store());
    return this.#flushed;
  }

  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        await this.#insert(batch);
      } catch (error) {
        this.#waiting.unshift(...batch);
        log().warn({ err: error, waiting: this.#waiting.length }, "requests were not logged yet");
        return;
      }
    }
    if (this.#dropped === 0) return;
    log().warn({ dropped: this.#dropped }, "requests were not logged: too many were waiting");
    this.#dropped = 0;
  }
}
