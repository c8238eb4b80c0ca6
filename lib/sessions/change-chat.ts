/** Creates and changes sessions and chats. */
import { checkModel } from "../agent/models/check-model.ts";
import type { AppError } from "../contract/app-error.ts";
import type { ChatAddress } from "../contract/chat-address.ts";
import { services } from "../platform/services.ts";
import type { Chat, Session } from "./session.ts";
import { type ChatChanges, insertChat, insertSession, updateChatFields } from "./store.ts";

/**
 * Creates a session and its first chat in one transaction. The pipeline has checked the caller's
 * access to the artist and the organization.
 */
export function createSession(input: {
  readonly accountId: string;
  readonly organization_id?: string | null | undefined;
  readonly artistId?: string | null | undefined;
  readonly title?: string | undefined;
}): Promise<{ session: Session; chat: Chat }> {
  return insertSession({
    accountId: input.accountId,
    organizationId: input.organization_id ?? null,
    artistId: input.artistId ?? null,
    title: input.title ?? "",
    modelId: services().models.defaultModelId,
  });
}

/**
 * Creates a chat in a session. A request with an `id` can be repeated.
 * Errors: 400 for an unknown model, 404 for the session or the template, 409 when the id belongs to a
 * chat of another session.
 */
export async function createChat(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly modelId?: string | undefined;
  readonly instructions?: string | undefined;
  readonly templateId?: string | undefined;
}): Promise<Chat | AppError> {
  const { accountId, sessionId, id: chatId = null, title = "", modelId } = input;
  const fault = modelId === undefined ? undefined : await checkModel(modelId);
  if (fault) return fault;
  return insertChat({
    accountId,
    sessionId,
    chatId,
    title,
    modelId: modelId ?? services().models.defaultModelId,
    instructions: input.instructions ?? null,
    templateId: input.templateId ?? null,
  });
}

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
