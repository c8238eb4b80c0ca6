import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { chatPath } from "@platform/endpoint/contract/chat-address";
import type { Logger } from "pino";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import { call } from "../platform/database/query.ts";
import type { ModelCallParts } from "../running-turn/model-call.ts";
import { clearSandbox } from "../sandbox/destroy-sandbox.ts";
import { provisionSandbox } from "../sandbox/provision-sandbox.ts";
import type { EndParts } from "./finish-stream.ts";
import { namedChatId } from "./named-chat-id.ts";
import { startTurn, type TurnRequest } from "./start-turn.ts";
import type { StreamedTurn } from "./stream-turn.ts";

/** Names its chat by `sessionId` and `chatId`, or by `id`, the client's own name for it. */
export interface ChatTurnRequest extends Omit<TurnRequest, "sessionId" | "chatId"> {
  readonly sessionId?: string | undefined;
  readonly chatId?: string | undefined;
  /** A UUID may be the id of an existing chat. */
  readonly id?: string | undefined;
  readonly log: Logger;
}

/** The turn to stream, and the path of its chat. */
interface ChatTurn {
  readonly turn: StreamedTurn;
  readonly location: string;
}

type StartParts = EndParts & ModelCallParts & Parts<"runningTurns" | "sandboxes">;

/** Starts a turn in the chat that the request names. Errors: as `startTurn` and `startTurnById`. */
export async function startChatTurn(
  app: StartParts,
  { id = "", sessionId, chatId, log, ...request }: ChatTurnRequest,
): Promise<ChatTurn | AppError> {
  if (sessionId === undefined || chatId === undefined) return startTurnById(app, id, request, log);
  const turn = await startTurn(app, { ...request, sessionId, chatId });
  return isAppError(turn) ? turn : { turn, location: chatPath({ sessionId, chatId }) };
}

const openedChat = z.object({
  session_id: z.string(),
  chat_id: z.string(),
  is_new: z.boolean(),
});

/**
 * Starts a turn in the chat that the client names. The chat, its session and its sandbox are created if
 * they are missing. A chat whose first message is refused is not kept. Errors: as `startTurn`; 502
 * `Failed to provision sandbox`; 403 when the account's sandboxes are full.
 */
async function startTurnById(
  app: StartParts,
  id: string,
  request: Omit<TurnRequest, "sessionId" | "chatId">,
  log: Logger,
): Promise<ChatTurn | AppError> {
  const { accountId } = request.caller;
  const opened = await call(
    app.db,
    "open_chat",
    {
      accountId,
      chatId: UUID.test(id) ? id : null,
      namedId: namedChatId(accountId, id),
      modelId: app.models.defaultModelId,
    },
    openedChat,
  );
  const { session_id: sessionId, chat_id: chatId, is_new: isNew } = opened;
  const start = () => startTurn(app, { ...request, sessionId, chatId });

  let turn: StreamedTurn | AppError | undefined;
  try {
    turn = await start();
    // Only for a message that is valid.
    if (isAppError(turn) && turn.code === "sandbox_missing") {
      const sandbox = await provisionSandbox(app, { accountId, sessionId, log });
      turn = isAppError(sandbox) ? sandbox : await start();
    }
  } finally {
    if (isNew && (turn === undefined || isAppError(turn))) {
      await discardEmptySession(app, accountId, sessionId, log);
    }
  }
  if (isAppError(turn)) return turn;
  return { turn, location: chatPath({ sessionId, chatId }) };
}

/** Never throws, because the caller has another failure to report. */
async function discardEmptySession(
  app: Parts<"db" | "sandboxes">,
  accountId: string,
  sessionId: string,
  log: Logger,
): Promise<void> {
  try {
    const isDiscarded = await call(app.db, "discard_empty_session", { accountId, sessionId });
    if (isDiscarded) await clearSandbox(app, sessionId, log);
  } catch (error) {
    log.error({ err: error, sessionId }, "an empty session could not be discarded");
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
