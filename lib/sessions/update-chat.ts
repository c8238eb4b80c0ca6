import { checkModel } from "../agent/models/check-model.ts";
import type { AppError } from "../contract/app-error.ts";
import type { Chat } from "./session.ts";
import { updateChatFields } from "./store.ts";

/**
 * Renames a chat or chooses its model.
 * Errors: 400 for an unknown model, 404 `Session not found`, 404 `Chat not found`.
 */
export async function updateChat(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly chatId: string;
  readonly changes: { readonly title?: string | undefined; readonly modelId?: string | undefined };
}): Promise<Chat | AppError> {
  const { accountId, sessionId, chatId, changes } = input;
  const fault = changes.modelId === undefined ? undefined : await checkModel(changes.modelId);
  return fault ?? updateChatFields(accountId, sessionId, chatId, changes);
}
