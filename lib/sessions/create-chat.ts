import { checkModel } from "../agent/models/offer-models.ts";
import type { AppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import type { Chat } from "./session.ts";
import { insertChat } from "./store.ts";

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
