import { type AppError, isAppError } from "../contract/app-error.ts";
import type { ChatAddress } from "../contract/chat-address.ts";
import { stopTurn } from "../turns/stop-turn.ts";
import { removeChat, selectChat } from "./store.ts";

/**
 * Deletes a chat with its messages, after it has stopped its run.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function deleteChat(address: ChatAddress): Promise<AppError | undefined> {
  const found = await selectChat(address);
  if (isAppError(found)) return found;
  if (found.activeStreamId !== null) {
    const stopped = await stopTurn(address.accountId, address.chatId);
    if (isAppError(stopped)) return stopped;
  }
  const removed = await removeChat(address);
  return isAppError(removed) ? removed : undefined;
}
