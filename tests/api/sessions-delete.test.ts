import { describe, expect, test } from "vitest";
import {
  createPersonWithSession,
  createSession,
  sandboxFolderExists,
} from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { startEndlessTurn } from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";

describe("DELETE /api/sessions/{sessionId} 200", () => {
  test("the session, its chats, its messages and its sandbox's files are gone", async () => {
    const { person, session, chat } = await createPersonWithSession();
    await sql`insert into messages (chat_id, id, role, parts) values (${chat.id}, 'm', 'user', '[]')`;
    await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect(await sandboxFolderExists(session.id)).toBe(true);

    const answer = await person.withKey.delete(`/api/sessions/${session.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: "success" });
    for (const path of ["", "/chats", `/chats/${chat.id}`]) {
      const read = await person.withKey.get(`/api/sessions/${session.id}${path}`);
      expectError(read, 404, "error", "Session not found");
    }
    expect(await sql`select 1 from messages where chat_id = ${chat.id}`).toHaveLength(0);
    expect(await sandboxFolderExists(session.id)).toBe(false);
  });

  test("a deletion that PostgreSQL ends to resolve a deadlock is repeated", async () => {
    const { person, session } = await createPersonWithSession();
    await person.withKey.post(`/api/sessions/${session.id}/chats`, {});
    const [first, last] = (
      await sql`select id from chats where session_id = ${session.id} order by id`
    ).map(({ id }) => String(id));
    const waitFor = async (pid: number) =>
      expect
        .poll(() => sql`select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`)
        .toHaveLength(1);
    // The deletion locks the chats, then the session. It is the last of the two to wait, and so the one that
    // finds the deadlock, however slow the machine is.
    const { deletion, other } = await sql.begin(async (holder) => {
      const [own] = await holder`
        select pg_backend_pid() as pid from chats where id = ${last ?? ""} for update`;
      const deletion = person.withKey.delete(`/api/sessions/${session.id}`);
      const pid = Number(own?.pid);
      await waitFor(pid);
      const [blocked] = await sql`
        select pid from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`;
      const other = sql.begin(async (transaction) => {
        await transaction`set local deadlock_timeout = '1min'`;
        await transaction`select from sessions where id = ${session.id} for update`;
        await transaction`select from chats where id = ${first ?? ""} for update`;
      });
      await waitFor(Number(blocked?.pid));
      return { deletion, other };
    });
    await other;
    expect((await deletion).status).toBe(200);
  });

  test("a deletion while the sandbox is provisioned leaves neither row nor files", async () => {
    const person = await createPerson();
    for (let round = 0; round < 10; round++) {
      const { session } = await createSession(person.withKey);
      const [provisioned, deleted] = await Promise.all([
        person.withKey.post("/api/sandbox", { sessionId: session.id }),
        person.withKey.delete(`/api/sessions/${session.id}`),
      ]);
      expect(deleted.status).toBe(200);
      expect([200, 404]).toContain(provisioned.status);
      expect((await person.withKey.get(`/api/sessions/${session.id}`)).status).toBe(404);
      expect(await sandboxFolderExists(session.id)).toBe(false);
    }
  });

  test("its running turn ends, and writes nothing afterwards", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const ids = { sessionId: session.id, chatId: chat.id };
    const { stream } = await startEndlessTurn(person.withKey, ids);

    const answer = await person.withKey.delete(`/api/sessions/${session.id}`);
    expect([answer.status, answer.body]).toEqual([200, { status: "success" }]);
    await stream;
    expect(await sql`select 1 from messages where chat_id = ${chat.id}`).toHaveLength(0);
    const keys = await sql`
      select 1 from api_keys where account_id = ${session.accountId} and scope = 'run'
        and revoked_at is null`;
    expect(keys, "keys that outlive their turn").toHaveLength(0);
    expect(await sandboxFolderExists(session.id)).toBe(false);
  });
});
