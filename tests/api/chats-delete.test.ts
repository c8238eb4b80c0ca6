import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chat } from "../../lib/sessions/session.ts";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { startEndlessTurn } from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";

const created = z.object({ chat });

describe("DELETE /api/sessions/{sessionId}/chats/{chatId} 200", () => {
  test("the chat and its messages are gone, its session and the other chats stay", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const other = await person.withKey.post(`/api/sessions/${session.id}/chats`, { title: "b" });
    await sql`insert into messages (chat_id, id, role, parts) values (${chat.id}, 'm', 'user', '[]')`;

    const answer = await person.withKey.delete(`/api/sessions/${session.id}/chats/${chat.id}`);
    expect([answer.status, answer.body]).toEqual([200, { status: "success" }]);
    expect(await sql`select 1 from messages where chat_id = ${chat.id}`).toHaveLength(0);
    const list = await person.withKey.get(`/api/sessions/${session.id}/chats`);
    expect(list.body).toEqual({
      chats: [created.parse(other.body).chat],
      next_cursor: null,
    });
    const again = await person.withKey.delete(`/api/sessions/${session.id}/chats/${chat.id}`);
    expectError(again, 404, "error", "Chat not found");
  });

  test("its running turn ends first, and the sandbox stays", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const ids = { sessionId: session.id, chatId: chat.id };
    const { stream } = await startEndlessTurn(person.withKey, ids);

    const answer = await person.withKey.delete(`/api/sessions/${session.id}/chats/${chat.id}`);
    expect([answer.status, answer.body]).toEqual([200, { status: "success" }]);
    expect(await stream).toContain("[DONE]");
    expect(await sql`select 1 from messages where chat_id = ${chat.id}`).toHaveLength(0);
    const sandbox = await person.withKey.get(`/api/sandbox?sessionId=${session.id}`);
    expect(sandbox.body).toMatchObject({ sandbox: { state: "active" } });
  });
});
