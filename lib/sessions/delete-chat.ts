import { type AppError, isAppError } from "../contract/app-error.ts";
import { stopTurn } from "../turns/stop-turn.ts";
import { removeChat, selectChat } from "./store.ts";

/**
 * Deletes a chat with its messages, after it has stopped its run.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function deleteChat(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly chatId: string;
}): Promise<AppError | undefined> {
  const { accountId, sessionId, chatId } = input;
  const found = await selectChat(accountId, sessionId, chatId);
  if (isAppError(found)) return found;
  if (found.activeStreamId !== null) {
    const stopped = await stopTurn(accountId, chatId);
    if (isAppError(stopped)) return stopped;
  }
  const removed = await removeChat(accountId, sessionId, chatId);
  return isAppError(removed) ? removed : undefined;
}
