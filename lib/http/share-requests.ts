/** Shares a process's request slots, and with them its database connections, between accounts. */
import { config } from "../platform/config.ts";
import { FairQueue } from "../platform/fair-queue.ts";
import { processWide } from "../platform/process-wide.ts";

const MAX_WAITING_REQUESTS_PER_ACCOUNT = 1_000;
/** The same as the timeout of a database call (lib/platform/outbound/keep-alive-fetch.ts). */
const MAX_WAIT_MS = 10_000;

/**
 * Runs `answer` in a slot of the account that the credential belongs to. A stream holds its slot until
 * its headers are made; lib/turns/stream-turn.ts bounds the stream after them.
 * @throws QueueRefusal when too many requests of the account are waiting, or it waited too long
 */
export function shareRequests<T>(
  ownerId: string,
  signal: AbortSignal,
  answer: () => Promise<T>,
): Promise<T> {
  const requests = processWide(
    "requests",
    () =>
      new FairQueue({
        name: "requests",
        slots: config().REQUESTS_AT_ONCE,
        waitersPerAccount: MAX_WAITING_REQUESTS_PER_ACCOUNT,
        maxWaitMs: MAX_WAIT_MS,
      }),
  );
  return requests.run(ownerId, signal, answer);
}
