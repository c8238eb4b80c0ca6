/** A body that is sent while PostgreSQL prints it is the one that it prints at once. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { callDirectly, streamDirectly } from "../../lib/platform/database/direct.ts";
import { streamTexts } from "../../lib/platform/database/stream-texts.ts";
import { createSession } from "../../tests/support/fixtures/sessions.ts";
import { createPerson } from "../../tests/support/harness/clients.ts";
import { sql, stack } from "../../tests/support/harness/stack.ts";

// The settings are read at the first call.
for (const [name, value] of Object.entries(stack.env)) vi.stubEnv(name, value);

const person = await createPerson();
const { session, chat } = await createSession(person.withKey);
const args = { p_account_id: session.accountId, p_session_id: session.id, p_chat_id: chat.id };
const pool = new pg.Pool({ connectionString: stack.env.DATABASE_URL, max: 1 });
afterAll(() => pool.end());

const textOf = (stream: ReadableStream<Uint8Array> | undefined) => new Response(stream).text();

describe("get_chat_body_pieces", () => {
  const isSameBody = async () => {
    const pieces = await textOf(await streamDirectly("get_chat_body_pieces", args));
    expect(pieces).toBe((await callDirectly("get_chat_body", args, "text"))?.data);
    return JSON.parse(pieces);
  };

  test("without messages", async () => {
    expect(await isSameBody()).toMatchObject({ chat: { id: chat.id }, messages: [] });
  });

  test("with messages in their order, of which each chunk has several", async () => {
    await sql`
      insert into messages (chat_id, id, role, parts, metadata)
      select ${chat.id}, '"é' || n, 'assistant', jsonb_build_array(repeat('x–', 1000)),
        case when n % 2 = 0 then '{"n": 1}'::jsonb end
      from generate_series(1, 100) n`;
    const { messages } = await isSameBody();
    expect(messages).toHaveLength(100);
    expect(messages[99]).toMatchObject({ id: '"é100', metadata: { n: 1 } });
  });

  test("of no chat", async () => {
    const none = { ...args, p_chat_id: randomUUID() };
    expect(await streamDirectly("get_chat_body_pieces", none)).toBeUndefined();
  });
});

describe("a statement that fails", () => {
  const failingAt = (row: number) => ({
    name: `failing_at_${row}`,
    text: "select (1 / (n - $1::int))::text as answer from generate_series(1, 3) n",
    values: [row],
  });

  test("before its first row", async () => {
    const opening = streamTexts(await pool.connect(), failingAt(1));
    await expect(opening).rejects.toThrow("division by zero");
  });

  test("after its first row", async () => {
    const stream = await streamTexts(await pool.connect(), failingAt(3));
    await expect(textOf(stream)).rejects.toThrow();
  });

  test("leaves the pool a connection that works", async () => {
    const { rows } = await pool.query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
  });
});

test("a reader that goes away leaves the connection to the next one", async () => {
  const statement = {
    name: "rows",
    text: "select repeat('x', $1::int) as answer from generate_series(1, 100) n",
    values: [50_000],
  };
  const stream = await streamTexts(await pool.connect(), statement);
  await stream?.cancel();
  expect(await textOf(await streamTexts(await pool.connect(), statement))).toHaveLength(5_000_000);
});
