import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ChatAddress } from "@platform/endpoint/contract/chat-address";
import { JSONParser } from "@streamparser/json";
import type { Database } from "../platform/database/port.ts";
import { type Chat, chat, type Message, message } from "./session.ts";
import { selectChatBody } from "./store.ts";

/**
 * Reads a chat whose messages are parsed one by one as they come from the database.
 * Errors: 404 `Session not found`, 404 `Chat not found`.
 */
export async function readChat(
  db: Database,
  address: ChatAddress,
): Promise<{ chat: Chat; messages: AsyncGenerator<Message> } | AppError> {
  const body = await selectChatBody(db, address);
  if (isAppError(body)) return body;
  const values = valuesOf(body);
  // The body starts with the chat.
  const first = await values.next();
  return { chat: chat.parse(first.value), messages: messagesIn(values) };
}

async function* messagesIn(values: AsyncGenerator<unknown>): AsyncGenerator<Message> {
  for await (const value of values) yield message.parse(value);
}

async function* valuesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, undefined> {
  const parser = new JSONParser({ paths: ["$.chat", "$.messages.*"], keepStack: false });
  let values: unknown[] = [];
  parser.onValue = ({ value }) => values.push(value);
  for await (const piece of body) {
    parser.write(piece);
    const ready = values;
    values = [];
    yield* ready;
  }
}
