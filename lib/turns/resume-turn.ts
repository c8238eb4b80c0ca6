import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { awaitRun } from "./await-run.ts";
import { reapDeadTurn } from "./reap-dead-turn.ts";
import { streamTurn } from "./stream-turn.ts";

/**
 * Streams the rest of the chat's running turn: from `startIndex`, or after the `Last-Event-ID` that
 * a browser's EventSource sends when it reconnects. Answers 204 when no turn is running.
 */
export async function resumeTurn(
  accountId: string,
  chatId: string,
  startIndex: number,
  request: Request,
): Promise<Response | AppError> {
  const lastEventId = request.headers.get("last-event-id");
  if (lastEventId !== null && !/^\d{1,9}$/.test(lastEventId)) {
    return appError("invalid_request", "Last-Event-ID must be the index of a chunk");
  }
  const from = lastEventId === null ? startIndex : Number(lastEventId) + 1;
  const { signal } = request;
  return streamTurn({ accountId, startIndex: from, signal }, async () => {
    const turn = await awaitRun(accountId, chatId, signal);
    if (isAppError(turn)) return turn;
    // Without this, a client would resume a turn for ever whose run was lost in an outage.
    const hasEnded = turn === null || (await reapDeadTurn(turn));
    return hasEnded ? new Response(null, { status: 204 }) : turn;
  });
}
