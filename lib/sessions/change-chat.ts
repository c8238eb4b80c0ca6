/** Creates and changes chats. */

import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { setChatConnectors } from "../connectors/store.ts";
import { checkModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { checkOptions } from "../templates/check-options.ts";
import type { ChatChanges, NewChat } from "./contract.ts";
import type { Chat } from "./session.ts";
import { insertChat, updateChatFields } from "./store.ts";

/**
 * Creates a chat in a session. A request with an `id` can be repeated.
 * Errors: 400 for an unknown model, 404 for the session or the template, 409 when the id belongs to a
 * chat of another session.
 */
export async function createChat(
  app: Parts<"db" | "models" | "queues">,
  address: Omit<ChatAddress, "chatId">,
  { connectors, ...values }: NewChat,
): Promise<Chat | AppError> {
  const fault =
    (await checkModel(app, values.modelId)) ?? (await checkOptions(app, address.accountId, values));
  if (fault) return fault;
  const chat = await insertChat(app.db, address, values, app.models.defaultModelId);
  if (isAppError(chat) || !connectors?.length) return chat;
  const chosen = await setChatConnectors(app.db, { ...address, chatId: chat.id }, connectors);
  return isAppError(chosen) ? chosen : chat;
}

/**
 * Renames a chat, chooses its model or instructs its agent.
 * Errors: 400 for an unknown model, 404 for the session, the chat or the template.
 */
export async function updateChat(
  app: Parts<"db" | "models" | "queues">,
  address: ChatAddress,
  changes: ChatChanges,
): Promise<Chat | AppError> {
  const fault =
    (await checkModel(app, changes.modelId)) ??
    (await checkOptions(app, address.accountId, changes));
  return fault ?? updateChatFields(app.db, address, changes, app.models.defaultModelId);
}
