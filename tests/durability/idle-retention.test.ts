/** The retention job ends turns whose run is lost, and unused sandboxes. */
import { randomUUID } from "node:crypto";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setWorld } from "workflow/runtime";
import { startApp } from "../../lib/app.ts";
import type { App } from "../../lib/parts.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { endLostTurns } from "../../lib/retention/run-retention.ts";
import { destroyIdleSandboxes } from "../../lib/retention/sweep-sandboxes.ts";
import { PostgresWorld } from "../../packages/world-postgres/src/postgres-world.ts";
import { startOwnParts } from "../support/harness/stack.ts";

let app: App;
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
let dataDir: string;
let closeWorld: (() => Promise<void>) | undefined;
beforeAll(async () => {
  parts = await startOwnParts();
  dataDir = parts.env.DATA_DIR ?? "";
  // The functions under test run in this process, as a server's would.
  Object.assign(process.env, parts.env, { LOG_LEVEL: "silent" });
  app = await startApp(parseConfig(process.env));
  const databaseUrl = parts.env.DATABASE_URL ?? "";
  sql = postgres(databaseUrl, { max: 3, onnotice: () => {} });
  // It reads runs, and executes none: it is not started.
  const { world } = PostgresWorld.open(databaseUrl, () => {});
  setWorld(world);
  closeWorld = world.close;
});
afterAll(async () => {
  await closeWorld?.();
  await sql?.end();
  await parts?.stop();
});

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function createAccount(): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, kind, email) values (${id}, 'personal', ${`${id}@example.com`})`;
  return id;
}

/** An unfinished turn in a new session. */
async function createTurn(account: string, ageHours: number) {
  const [turn, key] = [randomUUID(), randomUUID()];
  const [session] = await sql`insert into sessions (account_id) values (${account}) returning id`;
  const [chat] = await sql`insert into chats (session_id, account_id, active_stream_id)
    values (${session?.id}, ${account}, ${`run ${turn}`}) returning id`;
  await sql`insert into api_keys (id, account_id, name, hash, prefix, scope)
    values (${key}, ${account}, 'run', ${turn.repeat(2)}, 'ap_aaaa', 'run')`;
  await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, key_id, created_at)
    values (${turn}, ${account}, ${session?.id}, ${chat?.id}, ${`run ${turn}`}, 'running', 'm1', 'a1',
      'auto', ${key}, now() - ${ageHours} * interval '1 hour')`;
  await sql`insert into tool_runs (turn_id, tool_call_id) values (${turn}, '0 call')`;
  return { turn, sessionId: String(session?.id) };
}

test("turns whose run is lost end after a day, with their tool records and keys", async () => {
  const account = await createAccount();
  const [old, young, running] = [
    await createTurn(account, 25),
    await createTurn(account, 23),
    await createTurn(account, 25),
  ];
  await sql`insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status,
      input, owner, created_at, started_at, updated_at)
    values (${`run ${running.turn}`}, 'turn', 'd', 1, 'running', '', ${randomUUID()}, now(), now(),
      now())`;
  expect(await endLostTurns(app)).toBe(1);
  const turns = await sql`select id, status, error from turns where account_id = ${account}`;
  const turn = (id: string) => turns.find((one) => one.id === id);
  expect(turn(old.turn)).toMatchObject({ status: "failed", error: "The turn was lost" });
  expect(turn(young.turn)?.status).toBe("running");
  expect(turn(running.turn)?.status).toBe("running");
  const records = await sql`select turn_id from tool_runs join turns on turns.id = turn_id
    where account_id = ${account}`;
  expect(records.map((row) => row.turn_id).sort()).toEqual([young.turn, running.turn].sort());
  const keys = await sql`select from api_keys where account_id = ${account} and revoked_at is null`;
  expect(keys).toHaveLength(2);
  expect(await endLostTurns(app)).toBe(0);
});

test("sandboxes of sessions without a turn for long are destroyed, when a setting says so", async () => {
  const account = await createAccount();
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  /** @param turnDays how long ago the only turn ended; null without one, 0 while it is running */
  const create = async (sandboxDays: number, turnDays: number | null) => {
    const { sessionId, turn } = await createTurn(account, 0);
    if (turnDays === null) await sql`delete from turns where id = ${turn}`;
    else if (turnDays > 0) {
      await sql`update turns set status = 'completed', finished_at = ${daysAgo(turnDays)}
        where id = ${turn}`;
    }
    const createdAt = daysAgo(sandboxDays).toISOString();
    const state = { provider: "local", name: sessionId, createdAt, readyMs: 1, expiresAt: null };
    await sql`update sessions set sandbox_state = ${sql.json(state)}, sandbox_bytes = 5
      where id = ${sessionId}`;
    const folder = join(dataDir, "sandboxes", sessionId);
    await mkdir(join(folder, "home"), { recursive: true });
    return { sessionId, folder };
  };
  const gone = [await create(60, 31), await create(31, null)];
  const kept = [await create(60, 29), await create(29, null), await create(60, 0)];

  expect(await destroyIdleSandboxes(app)).toBe(0);
  expect(await destroyIdleSandboxes(app, 30)).toBe(gone.length);
  expect(await destroyIdleSandboxes(app, 30)).toBe(0);
  for (const { folder } of gone) expect(await isThere(folder)).toBe(false);
  for (const { folder } of kept) expect(await isThere(folder)).toBe(true);
  const without = await sql`select id from sessions
    where account_id = ${account} and sandbox_state is null`;
  expect(without.map(({ id }) => id).sort()).toEqual(gone.map((one) => one.sessionId).sort());
});
