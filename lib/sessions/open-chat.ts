import { type AppError, isAppError } from "../contract/app-error.ts";
import type { ChatAddress } from "../contract/chat-address.ts";
import { selectQueuedMessages } from "../turns/store/queued-turns.ts";
import { selectBranches, selectFeedback } from "./branches.ts";
import { selectChatBody } from "./store.ts";

/**
 * Reads a chat with its messages and with the parts that `include` names, as the text of a JSON object.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function openChat(
  address: ChatAddress,
  include: readonly ("branches" | "feedback" | "queue")[] = [],
): Promise<ReadableStream<Uint8Array> | AppError> {
  const read = {
    branches: () => selectBranches(address),
    feedback: () => selectFeedback(address),
    queue: async () => {
      const queued = await selectQueuedMessages(address.accountId, address.chatId);
      return isAppError(queued) ? queued : { queue: queued.messages };
    },
  };
  // The messages are read last: a queued message that becomes one of them in the meantime is not missed.
  const parts = await Promise.all(include.map((part) => read[part]()));
  return selectChatBody(address, Object.assign({}, ...parts.filter((part) => !isAppError(part))));
}
