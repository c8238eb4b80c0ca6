/** Connections of the REST server that PostgreSQL ends while a request uses them. */
import { setTimeout as delay } from "node:timers/promises";
import { sql as statement } from "kysely";
import { afterAll, expect, inject, test } from "vitest";
import { connectLite } from "../../../scripts/embedded/connect-lite.ts";
import { sql as admin } from "../../support/harness/stack.ts";

const lite = connectLite(inject("stack").env.DATABASE_URL ?? "");
afterAll(() => lite.close());

const asService = { auth: { role: "service_role" } };
const session = statement<{ pid: number; limit: string }>`
  select pg_backend_pid() as pid, current_setting('statement_timeout') as limit`;

/** Resolves when PostgreSQL has ended the session, and the driver has noticed. */
async function untilEnded(pid: number): Promise<void> {
  await expect.poll(() => admin`select from pg_stat_activity where pid = ${pid}`).toHaveLength(0);
  for (let turn = 0; turn < 20; turn++) await delay(1);
}

test("one that is lost between two statements fails only its request", async () => {
  const lost = lite.withContext(asService, async (database) => {
    const [row] = (await session.execute(database)).rows;
    await admin`select pg_terminate_backend(${row?.pid ?? 0})`;
    await untilEnded(row?.pid ?? 0);
    return session.execute(database);
  });
  await expect(lost).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  const works = () =>
    lite
      .withContext(asService, (database) => session.execute(database))
      .then(
        ({ rows }) => rows.length,
        () => 0,
      );
  await expect.poll(works, { timeout: 30_000 }).toBe(1);
});

test("more requests than connections are answered one after the other, with a limit for each statement", async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      lite.withContext(asService, (database) => session.execute(database)),
    ),
  );
  const rows = answers.flatMap((answer) => answer.rows);
  expect(new Set(rows.map(({ pid }) => pid)).size).toBeLessThanOrEqual(40);
  expect(new Set(rows.map(({ limit }) => limit))).toEqual(new Set(["10s"]));
});
