import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createSession } from "../support/fixtures/sessions.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

it("of two processes that record the same tool call at once, one may run it", async () => {
  const person = await createPerson();
  const { session, chat } = await createSession(person.withKey);
  const turnId = randomUUID();
  await sql`
    insert into turns (id, account_id, session_id, chat_id, message_id, assistant_message_id, model_id)
    values (${turnId}, ${session.accountId}, ${session.id}, ${chat.id}, 'm', 'a', 'x')`;
  const known = (rows: readonly Record<string, unknown>[]) => rows[0]?.known;

  let second: Promise<unknown> | undefined;
  const first = await sql.begin(async (transaction) => {
    const rows = await transaction`select start_tools(${turnId}, '{one,two}') as known`;
    second = sql`select start_tools(${turnId}, '{two,three}') as known`.then(known);
    await expect
      .poll(
        () => sql`
          select 1 from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%start_tools(%'`,
      )
      .toHaveLength(1);
    return known(rows);
  });
  expect(first).toEqual([]);
  expect(await second).toEqual([{ id: "two", finished: false, output: null }]);
});
