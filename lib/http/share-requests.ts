/** The requests that a process works on, and with them the database's connections, shared fairly. */
import { config } from "../platform/config.ts";
import { FairQueue } from "../platform/fair-queue.ts";

const WAITING_REQUESTS_OF_ACCOUNT = 1_000;
/** As long as a silent database is waited for. */
const MAX_WAIT_MS = 10_000;

declare global {
  // Shared by all routes, which Next may load separately.
  var agentPlatformRequests: FairQueue | undefined;
}

/**
 * Answers a request in the share of the account that its credential belongs to. A stream counts until
 * its headers are made (lib/turns/stream-turn.ts bounds what follows).
 * @throws QueueRefusal when the account has too many requests under way
 */
export function shareRequests<T>(
  ownerId: string,
  signal: AbortSignal,
  answer: () => Promise<T>,
): Promise<T> {
  globalThis.agentPlatformRequests ??= new FairQueue({
    slots: config().REQUESTS_AT_ONCE,
    waitersPerAccount: WAITING_REQUESTS_OF_ACCOUNT,
    maxWaitMs: MAX_WAIT_MS,
  });
  return globalThis.agentPlatformRequests.run(ownerId, signal, answer);
}
