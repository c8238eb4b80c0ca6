/**
 * Delivers due events. Any number of processes deliver from the same outbox: each leases the deliveries
 * that it attempts, and deliveries leased by a process that dies become due again.
 */

import { randomUUID } from "node:crypto";
import { runPeriodically } from "@platform/kit/drain";
import { JobWorker } from "@platform/kit/job-worker";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { sendEvent } from "./send-event.ts";
import { type ClaimedDelivery, claimDeliveries, recordAttempt } from "./store.ts";

/** Attempts of a worker at a time. */
const SLOTS = 32;
/** Attempts at endpoints of one account at a time, so one that hangs leaves room for others. */
const SLOTS_PER_ACCOUNT = 4;
/** Between the end of an attempt and the end of its lease. */
const LEASE_MARGIN_SECONDS = 15;
/** Between two polls for deliveries that are due for another attempt. */
const RETRY_CHECK_SECONDS = 5;
/** Seconds between the ten attempts of 24 hours, after which a delivery fails. */
const RETRY_DELAYS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600] as const;
const FIRST_ACCOUNT = "00000000-0000-0000-0000-000000000000";

export class WebhookWorker {
  /** Workers start with different accounts, and each continues after its last one. */
  #lastAccountId: string = randomUUID();
  readonly #worker = new JobWorker<ClaimedDelivery>();
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Whether it attempts no delivery, and claims none. */
  get isIdle(): boolean {
    return this.#worker.isIdle;
  }

  /** Claims due deliveries. Never throws. */
  wake(): void {
    this.#worker.wake({
      slots: SLOTS,
      claim: (limit) => this.#claimNext(limit),
      attempt: async (delivery) => {
        const attempt = await sendEvent(delivery);
        await recordAttempt(this.#db, delivery, attempt, retryDelaySeconds(delivery.attempt));
      },
      messages: {
        claim: "webhooks could not be delivered",
        attempt: "a webhook attempt was not recorded",
      },
    });
  }

  /** Starts again with the first account after the last one. */
  async #claimNext(limit: number): Promise<ClaimedDelivery[]> {
    const leaseSeconds = Math.ceil(config().WEBHOOK_TIMEOUT_MS / 1_000) + LEASE_MARGIN_SECONDS;
    const limits = { limit, perAccount: SLOTS_PER_ACCOUNT, leaseSeconds };
    const next = await claimDeliveries(this.#db, {
      ...limits,
      afterAccountId: this.#lastAccountId,
    });
    const claimed =
      next.length > 0
        ? next
        : await claimDeliveries(this.#db, { ...limits, afterAccountId: FIRST_ACCOUNT });
    this.#lastAccountId = claimed.at(-1)?.accountId ?? this.#lastAccountId;
    return claimed;
  }
}

/** Starts the timer of this process for deliveries that are due for another attempt. */
export function scheduleDeliveries({ webhookWorker }: Parts<"webhookWorker">): void {
  runPeriodically("webhooks", RETRY_CHECK_SECONDS, async () => webhookWorker.wake());
}

/**
 * Returns the seconds until the next attempt: as planned, plus or minus a fifth, so deliveries that
 * failed together are not repeated together.
 * @param attempt the number of the attempt that has failed, from 1
 * @param random a number from 0 to 1
 */
export function retryDelaySeconds(attempt: number, random = Math.random()): number {
  const planned = RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length) - 1] ?? 3_600;
  return planned * (0.8 + 0.4 * random);
}
