import { checkModel } from "../agent/models/offer-models.ts";
import type { AppError } from "../contract/app-error.ts";
import type { ChatAddress } from "../contract/chat-address.ts";
import type { Chat } from "./session.ts";
import { type ChatChanges, updateChatFields } from "./store.ts";

/**
 * Renames a chat, chooses its model or instructs its agent.
 * Errors: 400 for an unknown model, 404 for the session, the chat or the template.
 */
export async function updateChat(
  address: ChatAddress,
  changes: ChatChanges,
): Promise<Chat | AppError> {
  const fault = changes.modelId === undefined ? undefined : await checkModel(changes.modelId);
  return fault ?? updateChatFields(address, changes);
}
