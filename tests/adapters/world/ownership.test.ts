/** Which process takes over the runs of one whose database session has ended. */
import postgres from "postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { noMeasurements } from "../../../packages/world-postgres/src/measurements.ts";
import { Ownership } from "../../../packages/world-postgres/src/ownership.ts";
import { createEngineDatabase } from "../../support/harness/engine-database.ts";

let database: Awaited<ReturnType<typeof createEngineDatabase>>;
let sql: postgres.Sql;
beforeAll(async () => {
  database = await createEngineDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** Starts what decides on the ownership in a process, and counts how often it was fenced. */
async function start() {
  const fenced: string[] = [];
  const ownership: Ownership = new Ownership({
    databaseUrl: database.url,
    adopt: async () => 0,
    onLost: () => fenced.push(ownership.id),
    onError: () => {},
    measurements: noMeasurements,
  });
  await ownership.start();
  onTestFinished(() => ownership.retire());
  return { id: ownership.id, fenced };
}

const ids = async () =>
  (await sql`select id from engine.instances order by lock_key`).map(({ id }) => String(id));

/** Registers a process that has died: nothing holds its lock. */
async function addDead(): Promise<string> {
  const id = crypto.randomUUID();
  await sql`insert into engine.instances (id) values (${id})`;
  return id;
}

/** The locks of the processes of this database: other tests have theirs in other databases of the same server. */
const locks = () => sql`
  select pid from pg_locks where locktype = 'advisory' and classid = 20261 and granted
    and database = (select oid from pg_database where datname = current_database())`;

const SLOW = { timeout: 20_000, interval: 100 };

test("the sessions of all processes end, and no one is taken for dead before it is back", async () => {
  const processes = await Promise.all([start(), start(), start(), start()]);
  const live = processes.map(({ id }) => id).toSorted();
  await expect.poll(async () => (await ids()).toSorted(), SLOW).toEqual(live);
  for (let round = 0; round < 3; round++) {
    const lost = (await locks()).map(({ pid }) => Number(pid));
    for (const pid of lost) await sql`select pg_terminate_backend(${pid})`;
    // One that starts just now finds them without their locks.
    const late = await start();
    processes.push(late);
    live.push(late.id);
    live.sort();
    const back = async () => (await locks()).filter(({ pid }) => !lost.includes(Number(pid)));
    await expect.poll(async () => (await back()).length, SLOW).toBe(processes.length);
    expect(processes.flatMap(({ fenced }) => fenced)).toEqual([]);
    expect((await ids()).toSorted()).toEqual(live);
  }
  // A process that died with the database is taken for dead after the others had time to come back.
  const dead = await addDead();
  await expect.poll(ids, SLOW).not.toContain(dead);
  // And while the database is up, at once.
  const { length } = await ids();
  const killed = await addDead();
  const since = performance.now();
  await expect.poll(ids, SLOW).not.toContain(killed);
  expect(performance.now() - since).toBeLessThan(4_000);
  expect(await ids()).toHaveLength(length);
}, 60_000);
