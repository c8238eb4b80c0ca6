/**
 * Sends the results of runs. A mail whose content may have reached the mail server is never sent again (docs/decisions/0035-delivery.md).
 */

import { drain, runPeriodically } from "@platform/kit/drain";
import { JobWorker } from "@platform/kit/job-worker";
import { log } from "@platform/kit/log";
import type { Mail, MailOutcome } from "../mail/port.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { ATTACH_DEADLINE_MS, attachFiles } from "./attach-files.ts";
import { renderNotice, renderResult, renderWaiting } from "./render-mail.ts";
import {
  beginSending,
  claimDeliveries,
  type DeliveryEnd,
  type DeliveryJob,
  endDelivery,
} from "./store.ts";

/** Mails of a process at a time; each may have 10 MiB of attachments. */
const SLOTS = 4;
const LEASE_MARGIN_SECONDS = 30;
const POLL_SECONDS = 5;
/** Seconds between the attempts of 24 hours. */
const RETRY_DELAYS = [10, 60, 300, 1_200, 3_600, 7_200, 14_400, 21_600] as const;

type Needs = Parts<"db" | "webhookWorker" | "mail" | "queues" | "sandboxes">;

export class MailWorker {
  readonly #worker = new JobWorker<DeliveryJob>();

  /** Whether it sends nothing, and claims nothing. */
  get isIdle(): boolean {
    return this.#worker.isIdle;
  }

  untilIdle = (deadline: AbortSignal): Promise<void> => this.#worker.untilIdle(deadline);

  /** Claims deliveries that are due. Never throws. */
  wake(app: Needs): void {
    this.#worker.wake({
      slots: SLOTS,
      claim: (limit) => claimDeliveries(app.db, limit, leaseSeconds()),
      attempt: async (job) => {
        const end = await deliverMail(app, job);
        const hasEvent = end && (await endDelivery(app.db, job, end, retrySeconds(job.attempt)));
        if (hasEvent) app.webhookWorker.wake();
      },
      messages: {
        claim: "results could not be delivered",
        attempt: "a delivery was not recorded",
      },
    });
  }
}

const leaseSeconds = () =>
  Math.ceil((config().DELIVERY_TIMEOUT_MS + ATTACH_DEADLINE_MS) / 1_000) + LEASE_MARGIN_SECONDS;

const retrySeconds = (attempt: number): number =>
  RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length) - 1] ?? RETRY_DELAYS[0];

/** Returns null if another process has taken the delivery over. */
async function deliverMail(app: Needs, job: DeliveryJob): Promise<DeliveryEnd | null> {
  if (job.fault !== null) {
    const outcome = job.fault === UNKNOWN.error ? "unknown" : "failed";
    return { outcome, error: job.fault };
  }
  const mail = await render(app, job);
  let withdrawn: { readonly fault: string | null } | undefined;
  const beforeContent = async () => {
    const { granted, fault } = await beginSending(app.db, job, leaseSeconds());
    if (granted) return;
    withdrawn = { fault };
    throw new Error("The delivery was withdrawn");
  };
  const sent = await app.mail.send(mail, {
    beforeContent,
    timeoutMs: config().DELIVERY_TIMEOUT_MS,
  });
  if (withdrawn)
    return withdrawn.fault === null ? null : { outcome: "failed", error: withdrawn.fault };
  if (sent.kind !== "sent") {
    log().warn({ mailer: app.mail.name, outcome: sent.kind, cause: sent.cause }, "mail");
  }
  return endOf(sent);
}

async function render(app: Needs, job: DeliveryJob): Promise<Mail> {
  if (job.kind === "notice") return renderNotice(job);
  if (job.kind === "waiting") return renderWaiting(job);
  const work = { accountId: job.accountId, queue: app.queues.documents };
  return renderResult(work, job, await attachFiles(app, job));
}

const UNKNOWN = { outcome: "unknown", error: "unknown" } as const;

function endOf(sent: MailOutcome): DeliveryEnd {
  if (sent.kind === "sent") return { outcome: "sent", error: null };
  if (sent.mayHaveArrived) return UNKNOWN;
  if (sent.kind === "refused") {
    return { outcome: "bounced", error: "address_refused" };
  }
  if (sent.isPermanent) return { outcome: "failed", error: "mail_refused" };
  return { outcome: "retry", error: "unavailable" };
}

/**
 * Starts the timer of this process for deliveries that are due. The process exits once no mail is on its way, because
 * the outcome of one that it cuts is unknown.
 */
export function scheduleMails(app: Needs & Parts<"mailWorker">): void {
  drain().add((deadline) => app.mailWorker.untilIdle(deadline));
  runPeriodically("deliveries", POLL_SECONDS, async () => app.mailWorker.wake(app));
}
