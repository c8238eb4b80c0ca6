import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chatWithMessages } from "../../lib/sessions/session.ts";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { sql } from "../support/harness/stack.ts";

const body = z.strictObject(chatWithMessages.shape);

describe("GET /api/sessions/{sessionId}/chats/{chatId} 200", () => {
  test("messages come oldest first, ties by id, whole and unchanged", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const parts = [
      { type: "text", text: 'quote " backslash \\ line\nbreak\ttab \u2028 🎵 </script> \u007f' },
      {
        type: "tool-bash",
        toolCallId: "call_1",
        state: "output-available",
        input: { command: "echo 'ä'" },
        output: { exitCode: 0, stdout: '[{"a":1.50}]', stderr: "", truncated: false },
      },
    ];
    const metadata = { modelId: "m", usage: { inputTokens: 1, outputTokens: 2 }, durationMs: 1.5 };
    const rows = [
      { id: 'b"\\', role: "assistant", parts, metadata, at: "2026-01-01T00:00:00.001Z" },
      { id: "a", role: "user", parts: [], metadata: null, at: "2026-01-01T00:00:00.001Z" },
      { id: "z", role: "user", parts: [], metadata: null, at: "2026-01-01T00:00:00.000Z" },
    ];
    for (const { id, role, parts, metadata, at } of rows) {
      await sql`insert into messages (chat_id, id, role, parts, metadata, created_at)
        values (${chat.id}, ${id}, ${role}, ${sql.json(parts)},
          ${metadata && sql.json(metadata)}, ${at})`;
    }
    const answer = await person.withKey.get(`/api/sessions/${session.id}/chats/${chat.id}`);
    expect(body.parse(answer.body).messages).toEqual([
      { id: "z", role: "user", parts: [], createdAt: rows[2]?.at },
      { id: "a", role: "user", parts: [], createdAt: rows[1]?.at },
      { id: 'b"\\', role: "assistant", parts, metadata, createdAt: rows[0]?.at },
    ]);
  });

  test("isStreaming is true exactly while activeStreamId is not null", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const path = `/api/sessions/${session.id}/chats/${chat.id}`;
    const read = async () => body.parse((await person.withKey.get(path)).body);

    await sql`update chats set active_stream_id = 'run_1', claimed_at = now() - interval '1 day'
      where id = ${chat.id}`;
    expect(await read()).toMatchObject({ isStreaming: true, chat: { activeStreamId: "run_1" } });

    await sql`update chats set active_stream_id = null where id = ${chat.id}`;
    expect(await read()).toMatchObject({ isStreaming: false, chat: { activeStreamId: null } });
  });

  test("a claim that never became a run is a stream for a minute, and then none", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const path = `/api/sessions/${session.id}/chats/${chat.id}`;
    const read = async () => body.parse((await person.withKey.get(path)).body);
    const claim = `pending:${randomUUID()}`;

    await sql`update chats set active_stream_id = ${claim}, claimed_at = now()
      where id = ${chat.id}`;
    expect(await read()).toMatchObject({ isStreaming: true, chat: { activeStreamId: claim } });

    await sql`update chats set claimed_at = now() - interval '61 seconds' where id = ${chat.id}`;
    expect(await read()).toMatchObject({ isStreaming: false, chat: { activeStreamId: null } });
  });

  test("include adds branches, ratings and the queue", async () => {
    const { person, session, chat } = await createPersonWithSession();
    await sql`insert into messages (chat_id, id, role, parts)
      values (${chat.id}, 'a', 'assistant', '[]')`;
    const path = `/api/sessions/${session.id}/chats/${chat.id}`;
    await person.withKey.request("PUT", `${path}/messages/a/feedback`, { body: { rating: "up" } });
    const plain = await person.withKey.get(path);
    expect((await person.withKey.get(`${path}?include=branches,feedback,queue`)).body).toEqual({
      ...z.object({}).loose().parse(plain.body),
      ...{ branches: [], queue: [] },
      feedback: [expect.objectContaining({ message_id: "a", rating: "up" })],
    });
    const some = await person.withKey.get(`${path}?include=queue`);
    expect(Object.keys(z.object({}).loose().parse(some.body))).toContain("queue");
    expect(some.body).not.toHaveProperty("branches");
  });
});

describe("GET /api/sessions/{sessionId}/chats/{chatId} 404", () => {
  test("a chat that is missing answers the same with include", async () => {
    const { person, session } = await createPersonWithSession();
    const path = `/api/sessions/${session.id}/chats/${randomUUID()}?include=branches,feedback,queue`;
    expectError(await person.withKey.get(path), 404, "error", "Chat not found");
  });
});
