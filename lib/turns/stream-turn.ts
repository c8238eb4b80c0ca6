import { type AppError, isAppError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { FairQueue, isQueueRefusal } from "../platform/fair-queue.ts";
import { processWide } from "../platform/process-wide.ts";
import { queueRefused } from "../platform/queue-refused.ts";
import { type StreamedTurn, streamResponse } from "./stream-response.ts";

/**
 * The limit for all accounts in this process. A stream costs little memory and a query a second.
 */
const MAX_STREAMS = 4_000;

/** Limits the streams of an account, so none can take all readers of a process. */
function streams(): FairQueue {
  return processWide(
    "streams",
    () =>
      new FairQueue({
        name: "streams",
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

/** `location` is the path of the turn's chat, for a client that has chosen its id. */
type FoundTurn = StreamedTurn | { readonly turn: StreamedTurn; readonly location: string };

/**
 * Streams the turn that `find` returns, or returns its response or error. The stream's slot is taken
 * before the call of `find`, which may start the turn, and is released when the stream ends. Errors: 429
 * when the account has `ACCOUNT_STREAMS` streams open; as `find`.
 */
export async function streamTurn(
  { accountId, startIndex, signal }: StreamRequest,
  find: () => Promise<FoundTurn | Response | AppError>,
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
      if (!("turn" in found)) return await streamResponse(found, startIndex, signal, release);
      const response = await streamResponse(found.turn, startIndex, signal, release);
      response.headers.set("location", found.location);
      return response;
    }
    release();
    return found;
  } catch (error) {
    release();
    throw error;
  }
}
