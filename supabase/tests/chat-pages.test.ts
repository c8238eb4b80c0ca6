/** A chat that is read page by page is whole. */

import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import { selectChatBody } from "../../lib/sessions/store.ts";
import { createSession } from "../../tests/support/fixtures/sessions.ts";
import { createPerson } from "../../tests/support/harness/clients.ts";
import { sql, stack } from "../../tests/support/harness/stack.ts";

// The settings are read at the first call.
for (const [name, value] of Object.entries(stack.env)) vi.stubEnv(name, value);

const person = await createPerson();
const { session, chat } = await createSession(person.withKey);
const address = { accountId: session.accountId, sessionId: session.id, chatId: chat.id };

async function open(): Promise<ReadableStream<Uint8Array>> {
  const body = await selectChatBody(currentDatabase(), address);
  if (!(body instanceof ReadableStream)) throw new Error("The chat is not read in pages");
  return body;
}

async function readBody() {
  return new Response(await open()).json();
}

const addMessages = (prefix: string, count: number, chars: number) => sql`
  insert into messages (chat_id, id, role, parts, metadata)
  select ${chat.id}, ${prefix} || n, 'assistant', jsonb_build_array(repeat('x–', ${chars / 2}::int)),
    case when n % 2 = 0 then '{"n": 1}'::jsonb end
  from generate_series(1, ${count}::int) n`;

test("without messages", async () => {
  expect(await readBody()).toMatchObject({ chat: { id: chat.id }, messages: [] });
});

test("with more messages than a page has, and with ones larger than a page", async () => {
  await addMessages('"é after\n', 1_001, 10);
  await addMessages("large", 3, 1_000_000);
  const { messages } = await readBody();
  expect(messages).toHaveLength(1_004);
  expect(messages[1_000]).toMatchObject({ id: '"é after\n1001' });
});

test("a reader that stops reading is sent no further page, and one that leaves ends the reading", async () => {
  const reader = (await open()).getReader();
  const { value } = await reader.read();
  expect(value?.byteLength).toBeLessThan(1_000_000);
  await reader.cancel();
});

test("a chat that does not exist", async () => {
  const missing = { ...address, chatId: randomUUID() };
  expect(await selectChatBody(currentDatabase(), missing)).toMatchObject({
    message: "Chat not found",
  });
});
