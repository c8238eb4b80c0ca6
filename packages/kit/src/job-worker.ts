/** Works off a queue in the database. Any number of processes do so: each leases the jobs that it takes. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@vercel/functions";
import { drain } from "./drain.ts";
import { log } from "./log.ts";
import { continueTrace } from "./telemetry/spans.ts";

const IDLE_CHECK_MS = 50;

export interface Jobs<Job> {
  /** Jobs of a process at a time. */
  readonly slots: number;
  /** Leases at most this many jobs that are due. */
  readonly claim: (limit: number) => Promise<readonly Job[]>;
  /** Works on a job and records its outcome. A job that fails is due again when its lease ends. */
  readonly attempt: (job: Job) => Promise<void>;
  /** The message of the log for a failed claim, and for a failed attempt. */
  readonly messages: { readonly claim: string; readonly attempt: string };
}

export class JobWorker<Job extends { readonly id: string }> {
  #underWay = 0;
  #isClaiming = false;
  #hasNews = false;

  /** Whether it attempts no job, and claims none. */
  get isIdle(): boolean {
    return !this.#isClaiming && this.#underWay === 0;
  }

  /** Resolves when it is idle, or the deadline is over: a process that exits would cut its jobs. */
  async untilIdle(deadline: AbortSignal): Promise<void> {
    while (!this.isIdle && !deadline.aborted) await sleep(IDLE_CHECK_MS);
  }

  /** Claims jobs that are due; calls during a claim are coalesced into one more claim. Never throws. */
  wake(queue: Jobs<Job>): void {
    this.#hasNews = true;
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    // It may outlive the request that wakes it, so it must not belong to its trace.
    waitUntil(continueTrace(undefined, () => this.#claim(queue)));
  }

  async #claim(queue: Jobs<Job>): Promise<void> {
    try {
      while (this.#hasNews && this.#underWay < queue.slots && !drain().hasBegun) {
        this.#hasNews = false;
        const jobs = await queue.claim(queue.slots - this.#underWay);
        for (const job of jobs) waitUntil(this.#attempt(queue, job));
        if (jobs.length > 0) this.#hasNews = true;
      }
    } catch (error) {
      log().warn({ err: error }, queue.messages.claim);
    } finally {
      this.#isClaiming = false;
    }
  }

  async #attempt(queue: Jobs<Job>, job: Job): Promise<void> {
    this.#underWay += 1;
    try {
      await queue.attempt(job);
    } catch (error) {
      log().warn({ err: error, deliveryId: job.id }, queue.messages.attempt);
    } finally {
      this.#underWay -= 1;
    }
    this.wake(queue);
  }
}
