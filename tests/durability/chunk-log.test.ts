/** The log of chunks on a PostgreSQL whose writes the test holds back. */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChunkLog } from "../../lib/engine/adapters/postgres/chunk-log.ts";
import { openPool, type Pool } from "../../lib/engine/adapters/postgres/database.ts";
import { createEngineDatabase } from "../support/harness/engine-database.ts";

let database: Awaited<ReturnType<typeof createEngineDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await createEngineDatabase();
  pool = openPool(database.url, 2, () => {});
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("who waits for chunks that are in no write yet is told when their run is handed over", async () => {
  const holder = postgres(database.url, { max: 1, onnotice: () => {} });
  const log = new ChunkLog(pool.sql, randomUUID());
  const [first, second] = [randomUUID(), randomUUID()];
  await log.open(first, "first run", true);
  await log.open(second, "second run", true);
  await holder.begin(async (transaction) => {
    await transaction`lock table engine.chunks in exclusive mode`;
    log.append(first, ["in the write that is held back"]);
    log.append(second, ["in the next one"]);
    const flushed = log.flushed(second);
    log.release(new Set(["second run"]));
    await expect(flushed).rejects.toThrow("another writer");
  });
  await expect(log.flushed(first)).rejects.toThrow("another writer");
  await holder.end();
});
