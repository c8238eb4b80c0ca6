import { type AppError, appError } from "../contract/app-error.ts";
import type { TurnAddress } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { namedChatId } from "./named-chat-id.ts";
import { requestStop } from "./store/claims.ts";

/** A stop takes effect within two seconds. */
const MAX_WAIT_MS = 2_000;

/**
 * Stops the chat's active turn and waits for its end, so the caller can send the next message
 * immediately.
 * @param chatId or the UUID by which the client has named the chat
 */
export async function stopTurn(
  accountId: string,
  chatId: string,
): Promise<{ stopped: boolean } | AppError> {
  let found = await requestStop(accountId, chatId);
  if (found.outcome === "chat_missing") {
    found = await requestStop(accountId, namedChatId(accountId, chatId));
  }
  if (found.outcome === "chat_missing") return appError("not_found", "Chat not found");
  if (found.outcome !== "active") return { stopped: false };
  await signalAndAwaitEnd({ turnId: found.turn_id, runId: found.run_id });
  return { stopped: true };
}

/** Signals a stop that is recorded, and resolves when the turn has ended, at the latest in two seconds. */
export async function signalAndAwaitEnd(turn: TurnAddress): Promise<void> {
  await services().engine.signalStop(turn.turnId);
  const deadline = AbortSignal.timeout(MAX_WAIT_MS);
  const from = (await services().engine.tailIndex(turn)) + 1;
  for await (const _ of services().engine.read(turn, from, deadline));
}
