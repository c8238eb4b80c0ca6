/** Two transactions at once that choose, change and delete one template of another account. */
import { randomUUID } from "node:crypto";
import type { ReservedSql } from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sql } from "../../tests/support/harness/stack.ts";

let first: ReservedSql;
let second: ReservedSql;
let author: string;
let user: string;
let template: string;

beforeEach(async () => {
  [first, second] = [await sql.reserve(), await sql.reserve()];
  [author, user, template] = [randomUUID(), randomUUID(), randomUUID()];
  for (const id of [author, user]) {
    await sql`insert into accounts (id, email) values (${id}, ${`${id}@example.com`})`;
  }
  await sql`select create_agent_template(${author}, ${template}, 't', 'd', 'one', '{}', false, '{}')`;
});
afterEach(async () => {
  for (const connection of [first, second]) {
    await connection`rollback`;
    connection.release();
  }
  await sql`delete from accounts where id in (${author}, ${user})`;
});

const choose = async (connection: ReservedSql) => {
  const [row] = await connection`
    select choose_template_version(${user}, ${template}, null) as version`;
  return row?.version;
};
const publish = () => sql`
  select update_agent_template(${author}, ${template}, null, null, 'next', null, null, null)`;
const remove = (connection: ReservedSql) =>
  connection`select delete_agent_template(${author}, ${template})`;

/** Starts work on a connection, and resolves once it waits for a lock. */
async function untilItWaits<T>(connection: ReservedSql, work: () => Promise<T>) {
  const [row] = await connection`select pg_backend_pid() as pid`;
  const done = work();
  const waits = () => sql`select from pg_locks where pid = ${String(row?.pid)} and not granted`;
  await expect.poll(async () => (await waits()).length).toBe(1);
  return { done };
}

test("the second of two first uses takes the version of the first, though a newer one is published", async () => {
  await first`begin`;
  expect(await choose(first)).toBe(1);
  // Its author waits for neither.
  await publish();
  const { done } = await untilItWaits(second, () => choose(second));
  await first`commit`;
  expect(await done).toBe(1);
  expect(await choose(first)).toBe(1);
});

test("a use that is rolled back has accepted nothing", async () => {
  await first`begin`;
  await choose(first);
  await publish();
  await first`rollback`;
  expect(await choose(second)).toBe(2);
});

test("a template that is being deleted is not accepted, and one that is being accepted is then deleted", async () => {
  await first`begin`;
  await remove(first);
  const chosen = await untilItWaits(second, () => choose(second));
  await first`rollback`;
  expect(await chosen.done).toBe(1);
  await first`begin`;
  await choose(first);
  const removed = await untilItWaits(second, async () => remove(second));
  await first`commit`;
  await removed.done;
  expect(await choose(first)).toBeNull();
});
