import { randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { ChatEntry } from "./contract.ts";
import { readMessages, userParts } from "./read-messages.ts";

/**
 * Validates the initial messages of a headless run.
 * @returns the messages to store, the last of which is the user's. Errors: 400.
 */
export async function readConversation(
  given: { readonly prompt: string } | { readonly messages: readonly ChatEntry[] },
): Promise<UIMessage[] | AppError> {
  const entries: readonly ChatEntry[] =
    "prompt" in given
      ? [{ id: randomUUID(), role: "user", content: given.prompt }]
      : given.messages;
  const duplicate = entries.findIndex(
    (entry, place) => entries.findIndex(({ id }) => id === entry.id) < place,
  );
  if (duplicate >= 0) return invalid(`messages.${duplicate}.id must be unique`);
  const messages = await readMessages(entries);
  if (isAppError(messages)) return messages;
  if (messages.at(-1)?.role !== "user") return invalid("The last message must be a user message");

  const conversation: UIMessage[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role !== "user") {
      conversation.push(message);
      continue;
    }
    const parts = userParts(message, `messages.${place}`);
    if (isAppError(parts)) return parts;
    conversation.push({ ...message, parts });
  }
  return conversation;
}

const invalid = (message: string): AppError => appError("invalid_request", message);
