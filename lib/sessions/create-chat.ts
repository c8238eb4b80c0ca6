/** A chat in a session; idempotent with an id of the client's. Decisions, section 4. */

import { checkModel } from "../agent/models/check-model.ts";
import type { AppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import type { Chat } from "./session.ts";
import { insertChat } from "./store.ts";

/**
 * Errors: 400 for an unknown model, 404 `Session not found`, 409 when the id is another session's
 * chat.
 */
export async function createChat(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly modelId?: string | undefined;
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
  });
}
