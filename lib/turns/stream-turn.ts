/** The streams of turns that an account may hold open, so that none takes all readers of a process. */

import { type AppError, isAppError } from "../contract/app-error.ts";
import type { TurnAddress } from "../engine/port.ts";
import { config } from "../platform/config.ts";
import { FairQueue, isQueueRefusal } from "../platform/fair-queue.ts";
import { processWide } from "../platform/process-wide.ts";
import { queueRefused } from "../platform/queue-refused.ts";
import { streamResponse } from "./stream-response.ts";

/** Of all accounts, in this process. Each costs a little memory, and a query a second at most. */
const MAX_STREAMS = 4_000;

function streams(): FairQueue {
  return processWide(
    "streams",
    () =>
      new FairQueue({
        slots: MAX_STREAMS,
        slotsPerAccount: config().ACCOUNT_STREAMS,
        waitersPerAccount: 0,
        maxWaitMs: 0,
      }),
  );
}

export interface StreamRequest {
  readonly accountId: string;
  readonly startIndex: number;
  readonly signal: AbortSignal;
}

/**
 * Streams the turn that `find` answers, or answers what it answers instead. The stream counts from
 * before `find` is called, which may start the turn, until it ends.
 * Errors: 429 when the account has as many streams open as it may; those of `find`.
 */
export async function streamTurn(
  { accountId, startIndex, signal }: StreamRequest,
  find: () => Promise<(TurnAddress & { readonly runId: string }) | Response | AppError>,
): Promise<Response | AppError> {
  let release: () => void;
  try {
    release = await streams().acquire(accountId);
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    throw error;
  }
  try {
    const found = await find();
    if (!isAppError(found) && !(found instanceof Response)) {
      return await streamResponse(found, startIndex, signal, release);
    }
    release();
    return found;
  } catch (error) {
    release();
    throw error;
  }
}
