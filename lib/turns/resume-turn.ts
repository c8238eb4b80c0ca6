import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { awaitRun } from "./await-run.ts";
import { healDeadTurn } from "./heal-dead-turn.ts";
import { streamTurn } from "./stream-turn.ts";

/**
 * The rest of the chat's running turn: from `startIndex`, or after the `Last-Event-ID` that a
 * browser's EventSource sends when it reconnects.
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
    // A chat whose run is over without its end, as after a long outage, would be resumed for ever.
    const isOver = turn === null || (await healDeadTurn(turn));
    return isOver ? new Response(null, { status: 204 }) : turn;
  });
}
