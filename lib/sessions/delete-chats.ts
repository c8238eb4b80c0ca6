import type { Logger } from "pino";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { stopTurn } from "../turns/stop-turn.ts";
import { removeChats, selectActiveChats } from "./store.ts";

/**
 * Stops the runs of the chats that belong to the account and deletes them, then deletes sessions without
 * chats and their sandboxes. Returns the ids of the deleted chats.
 */
export async function deleteChats(input: {
  readonly accountId: string;
  readonly ids: readonly string[];
  readonly log: Logger;
}): Promise<string[]> {
  const { accountId, ids, log } = input;
  const active = await selectActiveChats(accountId, ids);
  await Promise.all(active.map((chatId) => stopTurn(accountId, chatId)));
  const { deleted, sandboxes } = await removeChats(accountId, ids);
  // The retention job destroys a sandbox that cannot be destroyed now.
  await Promise.all(sandboxes.map((sandbox) => destroySandbox(sandbox, log)));
  return deleted;
}
