import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import type { EndParts } from "./finish-stream.ts";
import { awaitRun, findRun } from "./get-run.ts";
import { namedChatId } from "./named-chat-id.ts";
import { reapDeadTurn } from "./reap-turn.ts";
import { replayTurn } from "./replay-turn.ts";
import type { StreamedTurn } from "./stream-turn.ts";
import { streamTurn } from "./stream-turn.ts";

export interface ResumeRequest {
  readonly accountId: string;
  /** Or the UUID by which the client has named the chat. */
  readonly chatId: string;
  /** Index of the first chunk to send, unless the request has a `Last-Event-ID`. */
  readonly startIndex: number;
  /** Names the turn to stream; without it, the chat's active turn is streamed. */
  readonly runId?: string | undefined;
  readonly request: Request;
}

/**
 * Streams the rest of a turn: from `startIndex`, or after the `Last-Event-ID` that a browser's
 * EventSource sends when it reconnects. Without `runId`, answers 204 when no turn is active.
 * Errors: 404 `Run not found` for a run of another chat, and for one whose log is no longer retained.
 */
export async function resumeTurn(
  app: EndParts & Parts<"queues">,
  { accountId, chatId, startIndex, runId, request: { headers, signal } }: ResumeRequest,
): Promise<Response | AppError> {
  const lastEventId = headers.get("last-event-id");
  if (lastEventId !== null && !/^\d{1,9}$/.test(lastEventId)) {
    return appError("invalid_request", "Last-Event-ID must be the index of a chunk");
  }
  const from = lastEventId === null ? startIndex : Number(lastEventId) + 1;
  return streamTurn(app, { accountId, startIndex: from, signal }, () =>
    runId === undefined
      ? findActive(app, accountId, chatId, signal)
      : findNamed(app, accountId, chatId, runId),
  );
}

async function findActive(
  app: EndParts,
  accountId: string,
  chatId: string,
  signal: AbortSignal,
): Promise<StreamedTurn | Response | AppError> {
  let turn = await awaitRun(app, accountId, chatId, signal);
  if (isAppError(turn) && turn.code === "not_found") {
    turn = await awaitRun(app, accountId, namedChatId(accountId, chatId), signal);
  }
  if (isAppError(turn)) return turn;
  // Without `reapDeadTurn`, a client would resume a turn forever whose run was lost in an outage.
  if (turn !== null && !(await reapDeadTurn(app, turn))) return turn;
  return new Response(null, { status: 204 });
}

async function findNamed(
  app: EndParts,
  accountId: string,
  chatId: string,
  runId: string,
): Promise<StreamedTurn | AppError> {
  const found = await findRun(app, accountId, runId);
  const replayed =
    found?.run.chatId === chatId ? await replayTurn(app, found.turnId, found.run) : null;
  return replayed ?? appError("not_found", "Run not found");
}
