import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSession } from "../support/fixtures/sessions.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { startEndlessTurn } from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";

const body = z.strictObject({ status: z.literal("success"), deleted: z.array(z.uuid()) });

async function remove(caller: Client, ids: readonly string[]) {
  const answer = await caller.post("/api/chats/delete", { ids });
  expect(answer.status, answer.text).toBe(200);
  return body.parse(answer.body).deleted.sort();
}

describe("POST /api/chats/delete 200", () => {
  test("stops running turns, and removes a session without remaining chats, with its sandbox", async () => {
    const { withKey, id } = await createPerson();
    const emptied = await createSession(withKey);
    const kept = await createSession(withKey);
    const other = await withKey.post(`/api/sessions/${kept.session.id}/chats`, { title: "stays" });
    const ids = { sessionId: emptied.session.id, chatId: emptied.chat.id };
    const { stream } = await startEndlessTurn(withKey, ids);
    await withKey.post("/api/sandbox", { sessionId: kept.session.id });
    const [before] = await sql`
      select sandbox_state from sessions where id = ${emptied.session.id}`;
    expect(before?.sandbox_state).toMatchObject({ provider: "local" });

    const asked = [emptied.chat.id, kept.chat.id];
    expect(await remove(withKey, [...asked, ...asked])).toEqual(asked.sort());
    expect(await stream).toContain("[DONE]");
    expect((await withKey.get(`/api/sessions/${emptied.session.id}`)).status).toBe(404);
    const chats = await withKey.get(`/api/sessions/${kept.session.id}/chats`);
    expect(chats.body).toMatchObject({ chats: [Object(other.body).chat], next_cursor: null });
    const sandbox = await withKey.get(`/api/sandbox?sessionId=${kept.session.id}`);
    expect(sandbox.body).toMatchObject({ sandbox: { state: "active" } });
    expect(await sql`select from turns where account_id = ${id}`).toHaveLength(0);

    expect(await remove(withKey, asked)).toEqual([]);
  });

  test("a hundred chats go in one call, and chats of others stay", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const foreign = await createSession(other.withKey);
    const { session, chat } = await createSession(owner.withKey);
    const rows = await sql<{ id: string }[]>`insert into chats (session_id, account_id)
      select ${session.id}, ${owner.id} from generate_series(1, 98) returning id`;
    const own = [chat.id, ...rows.map(({ id }) => id)];
    expect(await remove(owner.withKey, [...own, foreign.chat.id])).toEqual(own.sort());
    const read = await other.withKey.get(
      `/api/sessions/${foreign.session.id}/chats/${foreign.chat.id}`,
    );
    expect(read.status).toBe(200);
  });

  test("a chat that is created at the same moment keeps its session", async () => {
    const { withKey } = await createPerson();
    for (let round = 0; round < 5; round++) {
      const { session, chat } = await createSession(withKey);
      const [made] = await Promise.all([
        withKey.post(`/api/sessions/${session.id}/chats`, {}),
        remove(withKey, [chat.id]),
      ]);
      const read = await withKey.get(`/api/sessions/${session.id}`);
      expect([made.status, read.status]).toEqual(made.status === 201 ? [201, 200] : [404, 404]);
    }
  });
});
