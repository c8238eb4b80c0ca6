import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { selectChatConnectors } from "../connectors/store.ts";
import type { Parts } from "../parts.ts";
import { selectQueuedMessages } from "../turns/store/queued-turns.ts";
import { selectBranches, selectFeedback } from "./branches.ts";
import type { ChatPart } from "./contract.ts";
import { selectChat, selectChatBody } from "./store.ts";

/**
 * Reads a chat with its messages and with the parts that `include` names, as the text of a JSON object.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function openChat(
  app: Parts<"db" | "models">,
  address: ChatAddress,
  include: readonly ChatPart[] = [],
): Promise<ReadableStream<Uint8Array> | AppError> {
  const read = {
    branches: () => selectBranches(app.db, address),
    connectors: () => selectChatConnectors(app.db, address),
    model: () => modelOf(app, address),
    feedback: () => selectFeedback(app.db, address),
    queue: async () => {
      const queued = await selectQueuedMessages(app.db, address.accountId, address.chatId);
      return isAppError(queued) ? queued : { queue: queued.messages };
    },
  };
  // The messages are read last: a queued message that becomes one of them in the meantime is not missed.
  const parts = await Promise.all(include.map((part) => read[part]()));
  return selectChatBody(
    app.db,
    address,
    Object.assign({}, ...parts.filter((part) => !isAppError(part))),
  );
}

async function modelOf({ db, models }: Parts<"db" | "models">, address: ChatAddress) {
  const chat = await selectChat(db, address);
  if (isAppError(chat)) return chat;
  const id = chat.modelId || models.defaultModelId;
  const name = (await models.list())?.find((model) => model.id === id)?.name ?? id;
  return { model: { id, name, is_default: id === models.defaultModelId } };
}
