/** Connections of the REST server that PostgreSQL ends while a request uses them. */
import { afterAll, expect, inject, test } from "vitest";
import { connectLite } from "../../../scripts/embedded/connect-lite.ts";
import { sql as admin } from "../../support/harness/stack.ts";

const lite = connectLite(inject("stack").env.DATABASE_URL ?? "");
afterAll(() => lite.close());

const asService = { auth: { role: "service_role" } };
type Work = Parameters<typeof lite.withContext>[1];

const run = <Row>(database: Parameters<Work>[0], text: string) =>
  database.executeQuery<Row>({
    sql: text,
    parameters: [],
    query: { kind: "RawNode", sqlFragments: [], parameters: [] },
    queryId: { queryId: "test" },
  });

/** Returns the backend of the connection and its limit for statements. */
async function session(database: Parameters<Work>[0]) {
  const { rows } = await run<{ pid: number; limit: string }>(
    database,
    "select pg_backend_pid() as pid, current_setting('statement_timeout') as limit",
  );
  return rows[0] ?? expect.unreachable();
}

/** Resolves when PostgreSQL has ended the session, and the driver has read that. */
async function untilEnded(pid: number): Promise<void> {
  await expect.poll(() => admin`select from pg_stat_activity where pid = ${pid}`).toHaveLength(0);
  for (let query = 0; query < 5; query++) await admin`select 1`;
}

test("one that is lost between two statements fails only its request", async () => {
  const lost = lite.withContext(asService, async (database) => {
    const { pid } = await session(database);
    await admin`select pg_terminate_backend(${pid})`;
    await untilEnded(pid);
    return session(database);
  });
  await expect(lost).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  const works = () =>
    lite.withContext(asService, session).then(
      () => true,
      () => false,
    );
  await expect.poll(works, { timeout: 30_000 }).toBe(true);
});

test("one to a server that has become read-only is replaced", async () => {
  const first = await lite.withContext(asService, session);
  const refused = lite.withContext(asService, async (database) => {
    await run(database, "set local transaction_read_only = on");
    await run(database, "create table never_created ()");
  });
  await expect(refused).rejects.toMatchObject({ code: "25006" });
  const second = await lite.withContext(asService, session);
  expect(second.pid).not.toBe(first.pid);
});

test("more requests than connections are answered one after the other, with a limit for each statement", async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => lite.withContext(asService, session)),
  );
  expect(new Set(answers.map(({ pid }) => pid)).size).toBeLessThanOrEqual(40);
  expect(new Set(answers.map(({ limit }) => limit))).toEqual(new Set(["10s"]));
});
