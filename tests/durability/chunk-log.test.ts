/**
 * The chunk log on a PostgreSQL whose writes the test delays. The guarantees of every engine are in
 * `turn-log.test.ts`.
 */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChunkLog } from "../../packages/world-postgres/src/chunk-log.ts";
import { openPool, type Pool } from "../../packages/world-postgres/src/database.ts";
import { createEngineDatabase } from "../support/harness/engine-database.ts";

let database: Awaited<ReturnType<typeof createEngineDatabase>>;
let pool: Pool;
/** Its transactions hold back the writes. */
let holder: postgres.Sql;
beforeAll(async () => {
  database = await createEngineDatabase();
  pool = openPool(database.url, 2, () => {});
  holder = postgres(database.url, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await Promise.all([pool.end(), holder.end()]);
  await database.drop();
});

test("who waits for chunks that are in no write yet is told when their run is handed over", async () => {
  const log = new ChunkLog(pool.sql, randomUUID());
  const [first, second] = [randomUUID(), randomUUID()];
  const one = await log.open(first, "first run", true);
  const two = await log.open(second, "second run", true);
  await holder.begin(async (transaction) => {
    await transaction`lock table engine.chunks in exclusive mode`;
    one.append(["in the write that is held back"]);
    two.append(["in the next one"]);
    const flushed = two.flushed();
    log.release(new Set(["second run"]));
    await expect(flushed).rejects.toThrow("another writer");
  });
  await expect(one.flushed()).rejects.toThrow("another writer");
});

test("a repeated step knows of the write that was in flight when the step failed", async () => {
  const [owner, turn] = [randomUUID(), randomUUID()];
  const run = await insertRun(turn, owner);
  const log = new ChunkLog(pool.sql, owner);
  const first = await log.open(turn, run, true);
  let second: ReturnType<ChunkLog["open"]> | undefined;
  await holder.begin(async (transaction) => {
    await transaction`lock table engine.chunks in exclusive mode`;
    first.append(["start"]);
    first.append(["start-step"]);
    second = log.open(turn, run, false);
  });
  const repeated = await second;
  expect(repeated?.committed()).toEqual(["start"]);
  expect(() => first.append(["of the first attempt"])).toThrow("another writer");
  repeated?.append(["start-step"]);
  await repeated?.flushed();
  await repeated?.close(["finish"]);
  expect(await storedChunks(turn)).toBe("start start-step finish");
});

async function insertRun(turn: string, owner: string): Promise<string> {
  const run = `wrun_${turn}`;
  await holder`
    insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input, owner,
      created_at, started_at, updated_at)
    values (${run}, 'turn', 'test', 1, 'running', '', ${owner}, now(), now(), now())`;
  return run;
}

async function storedChunks(turn: string): Promise<unknown> {
  const [stored] = await holder`
    select string_agg(data, ' ' order by first_index) as data from engine.chunks
    where stream = ${turn}`;
  return stored?.data;
}
