/** The durable engine's retention: rows are aged, no test waits. */
import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool, type Pool } from "../../packages/world-postgres/src/database.ts";
import { sweepEngine } from "../../packages/world-postgres/src/retention.ts";
import { createEngineDatabase } from "../support/harness/engine-database.ts";

let database: Awaited<ReturnType<typeof createEngineDatabase>>;
let sql: Sql;
let pool: Pool;
beforeAll(async () => {
  database = await createEngineDatabase();
  sql = postgres(database.url, { max: 4, onnotice: () => {} });
  pool = openPool(database.url, 4, () => {});
});
afterAll(async () => {
  await pool.end();
  await sql.end();
  await database.drop();
});

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);

/** A run with a step and an event, which ended so long ago; null for one that is running. */
async function createRun(id: string, endedAt: Date | null): Promise<void> {
  await sql`insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input,
      owner, created_at, started_at, completed_at, updated_at)
    values (${id}, 'turn', 'd', 1, ${endedAt ? "completed" : "running"}, '', ${randomUUID()},
      ${daysAgo(40)}, ${daysAgo(40)}, ${endedAt}, now())`;
  await sql`insert into engine.steps (run_id, step_id, name, status, input, attempt, created_at,
      started_at, updated_at)
    values (${id}, 'step', 'model', 'completed', '', 1, now(), now(), now())`;
  await sql`insert into engine.events (run_id, event_id, type, created_at)
    values (${id}, 'event', 'run_created', now())`;
}

/** A stream of three rows; the last one closes it, unless it never ended. */
async function createStream(writtenAt: Date, ended: boolean): Promise<string> {
  const stream = randomUUID();
  await sql`insert into engine.chunks (stream, first_index, count, data, eof, written_at)
    select ${stream}, n, 1, '{}', ${ended} and n = 2, ${writtenAt} from generate_series(0, 2) n`;
  return stream;
}

const left = async (table: string, column: string): Promise<string[]> =>
  (await sql`select distinct ${sql(column)} as id from ${sql(table)}`).map(({ id }) => String(id));

test("runs go with their steps and events, and streams as a whole, each a day after its end", async () => {
  await createRun("old", daysAgo(1.1));
  await createRun("young", daysAgo(0.9));
  await createRun("running", null);
  await createStream(daysAgo(1.1), true);
  const young = await createStream(daysAgo(0.9), true);
  await createStream(daysAgo(31.1), false);
  const open = await createStream(daysAgo(30.9), false);
  await sql`insert into engine.streams (name, run_id, next_index, written_at)
    values ('old', 'old', 1, ${daysAgo(1.1)}), ('young', 'young', 1, ${daysAgo(0.9)}),
      ('of a running run', 'running', 1, ${daysAgo(1.1)})`;
  await sql`insert into engine.stream_chunks (name, index, data) values ('old', 0, '')`;

  await sweepEngine(pool.sql);
  for (const table of ["engine.runs", "engine.steps", "engine.events"]) {
    expect((await left(table, "run_id")).sort()).toEqual(["running", "young"]);
  }
  expect((await left("engine.chunks", "stream")).sort()).toEqual([young, open].sort());
  expect(await sql`select from engine.chunks`).toHaveLength(6);
  expect((await left("engine.streams", "name")).sort()).toEqual(["of a running run", "young"]);
  expect(await left("engine.stream_chunks", "name")).toEqual([]);
});

test("more than a batch goes in one pass, which several processes share", async () => {
  await sql`insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input,
      owner, created_at, started_at, completed_at, updated_at)
    select 'many ' || n, 'turn', 'd', 1, 'completed', '', gen_random_uuid(), now(), now(),
      ${daysAgo(4)}, now() from generate_series(1, 1700) n`;
  await sql`insert into engine.chunks (stream, first_index, count, data, eof, written_at)
    select gen_random_uuid(), 0, 1, '{}', true, ${daysAgo(6)} from generate_series(1, 1700)`;
  // A row in use is left for the next pass, and delays no one.
  const user = await sql.reserve();
  await user`begin`;
  await user`select from engine.runs where run_id = 'many 1' for update`;
  await Promise.all([1, 2, 3].map(() => sweepEngine(pool.sql)));
  const many = () => sql`select run_id from engine.runs where run_id like 'many %'`;
  expect(await many()).toEqual([{ run_id: "many 1" }]);
  expect(await sql`select from engine.chunks where written_at < ${daysAgo(5)} and eof`).toEqual([]);
  await user`commit`;
  user.release();
  await sweepEngine(pool.sql);
  expect(await many()).toEqual([]);
});
