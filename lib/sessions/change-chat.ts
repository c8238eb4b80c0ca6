/** Creates and changes sessions and chats. */
import { checkFallbackModels, checkModel } from "../agent/models/list-models.ts";
import type { App } from "../app.ts";
import type { AppError } from "../contract/app-error.ts";
import type { ChatAddress } from "../contract/chat-address.ts";
import type { Chat } from "./session.ts";
import {
  type ChatChanges,
  insertChat,
  insertSession,
  type NewChat,
  type NewSession,
  updateChatFields,
} from "./store.ts";

/**
 * Creates a session and its first chat in one transaction. The pipeline has checked the caller's
 * access to the artist and the organization.
 */
export const createSession = ({ models }: Pick<App, "models">, input: NewSession) =>
  insertSession(input, models.defaultModelId);

/**
 * Creates a chat in a session. A request with an `id` can be repeated.
 * Errors: 400 for an unknown model, 404 for the session or the template, 409 when the id belongs to a
 * chat of another session.
 */
export async function createChat(
  app: Pick<App, "models">,
  input: Omit<NewChat, "modelId"> & { readonly modelId?: string | undefined },
): Promise<Chat | AppError> {
  const fault = (await checkModel(app, input.modelId)) ?? (await checkFallbackModels(app, input));
  const modelId = input.modelId ?? app.models.defaultModelId;
  return fault ?? insertChat({ ...input, modelId });
}

/**
 * Renames a chat, chooses its model or instructs its agent.
 * Errors: 400 for an unknown model, 404 for the session, the chat or the template.
 */
export async function updateChat(
  app: Pick<App, "models">,
  address: ChatAddress,
  changes: ChatChanges,
): Promise<Chat | AppError> {
  const fault =
    (await checkModel(app, changes.modelId)) ?? (await checkFallbackModels(app, changes));
  return fault ?? updateChatFields(address, changes);
}
