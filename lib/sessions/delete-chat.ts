import { isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import type { Logger } from "pino";
import type { Parts } from "../parts.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { stopTurn } from "../turns/stop-turn.ts";
import { removeChat, removeChats, selectActiveChats, selectChat } from "./store.ts";

/**
 * Deletes a chat with its messages, after it has stopped its run.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function deleteChat(app: Parts<"db" | "engine">, address: ChatAddress) {
  const found = await selectChat(app.db, address);
  if (isAppError(found)) return found;
  if (found.activeStreamId !== null) {
    const stopped = await stopTurn(app, address.accountId, address.chatId);
    if (isAppError(stopped)) return stopped;
  }
  const removed = await removeChat(app.db, address);
  return isAppError(removed) ? removed : undefined;
}

/**
 * Stops the runs of the chats that belong to the account and deletes them, then deletes sessions without
 * chats and their sandboxes. Returns the ids of the deleted chats.
 */
export async function deleteChats(
  app: Parts<"db" | "engine" | "sandboxes">,
  accountId: string,
  ids: readonly string[],
  log: Logger,
): Promise<string[]> {
  const active = await selectActiveChats(app.db, accountId, ids);
  await Promise.all(active.map((chatId) => stopTurn(app, accountId, chatId)));
  const { deleted, sandboxes } = await removeChats(app.db, accountId, ids);
  // The retention job destroys a sandbox that cannot be destroyed now.
  await Promise.all(sandboxes.map((sandbox) => destroySandbox(app, sandbox, log)));
  return deleted;
}
