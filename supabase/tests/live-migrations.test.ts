/**
 * Migrations of a database that others use: they neither fail nor wait. The databases here are made
 * for these tests, on the server of all tests.
 */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyMigrations } from "../../scripts/embedded/apply-migrations.ts";
import { listMigrations } from "../../scripts/embedded/list-migrations.ts";
import { createProject as createEmptyProject } from "../../tests/support/harness/engine-database.ts";
import { lockingChanges } from "./live-changes.ts";

/** Far longer than a migration waits for a lock, and so than anyone waits behind it. */
const WRITER_LOCK_TIMEOUT_MS = 5_000;

let folder: string;
const databases: (() => Promise<void>)[] = [];
const connections: Sql[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-platform-migrations-"));
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.end({ timeout: 5 })));
  for (const drop of databases) await drop();
  await rm(folder, { recursive: true, force: true });
});

function connect(url: string, settings: Record<string, string> = {}): Sql {
  const connection = postgres(url, { max: 4, onnotice: () => {}, connection: settings });
  connections.push(connection);
  return connection;
}

/** Creates a database with the schema of the baseline. */
async function createProject(): Promise<string> {
  const { url, drop } = await createEmptyProject();
  databases.push(drop);
  await applyMigrations(connect(url), "supabase");
  return url;
}

/** A folder with one migration, which is newer than all. */
async function migration(text: string): Promise<string> {
  const copy = join(folder, randomUUID());
  await mkdir(join(copy, "migrations"), { recursive: true });
  await writeFile(join(copy, "migrations", `99${Date.now()}_new.sql`), text);
  return copy;
}

/** Enough rows in the growing tables to distinguish a rewrite from a change of the catalog. */
async function fill(sql: Sql): Promise<void> {
  await sql.unsafe(`
    insert into accounts (id, kind, email)
      select gen_random_uuid(), 'personal', n || '@example.com' from generate_series(1, 600) n;
    insert into sessions (account_id) select id from accounts;
    insert into chats (session_id, account_id) select id, account_id from sessions;
    insert into messages (chat_id, id, role, parts)
      select id, 'm' || n, 'user', '[{"type": "text", "text": "Hello"}]'
      from chats, generate_series(1, 20) n;
    insert into turns (id, account_id, session_id, chat_id, status, message_id,
        assistant_message_id, model_id, finished_at)
      select gen_random_uuid(), account_id, session_id, id, 'completed', 'm1', 'a1', 'm', now()
      from chats;
    insert into api_keys (account_id, name, hash, prefix)
      select id, 'key', encode(sha256(id::text::bytea), 'hex'), 'ap_aaaa' from accounts;
    insert into idempotency_keys (account_id, key_hash, fingerprint)
      select id, id::text, 'f' from accounts;
    insert into task_runs (id, account_id, status, task_identifier, tags, finished_at)
      select 'run_' || replace(id::text, '-', ''), id, 'COMPLETED', 'generate-image',
        array['account:' || id], now()
      from accounts;
  `);
}

/** Writes to the tables that grow until it is stopped, as servers do, and returns how often. */
function keepWriting(url: string) {
  const sql = connect(url, { lock_timeout: String(WRITER_LOCK_TIMEOUT_MS) });
  const state = { isOver: false, rounds: 0 };
  const write = async () => {
    const [chat] = await sql`
      select id, account_id, session_id from chats order by random() limit 1`;
    if (!chat) throw new Error("no chat");
    for (; !state.isOver; state.rounds++) {
      const id = randomUUID();
      await sql`insert into messages (chat_id, id, role, parts)
        values (${chat.id}, ${id}, 'user', '[]')`;
      await sql`update chats set updated_at = now() where id = ${chat.id}`;
      await sql`insert into turns (id, account_id, session_id, chat_id, status, message_id,
          assistant_message_id, model_id)
        values (${id}, ${chat.account_id}, ${chat.session_id}, ${chat.id}, 'running', ${id}, 'a', 'm')`;
      await sql`insert into tool_runs (turn_id, tool_call_id) values (${id}, 'call')`;
      await sql`delete from tool_runs where turn_id = ${id}`;
      const finish = () =>
        sql`update turns set status = 'completed', finished_at = now() where id = ${id}`;
      // It may have started with a trigger's former body, and call a function that a migration drops.
      await finish().catch((error: postgres.PostgresError) => {
        if (error.code !== "42883") throw error;
        return finish();
      });
      await sql`insert into api_keys (account_id, name, hash, prefix)
        values (${chat.account_id}, 'key', ${id.repeat(2)}, 'ap_aaaa')`;
      await sql`insert into task_runs (id, account_id, status, task_identifier, tags)
        values (${`run_${id.replaceAll("-", "")}`}, ${chat.account_id}, 'COMPLETED', 'task',
          array['account:' || ${chat.account_id}::text])`;
      await sql`update sessions set updated_at = now() where id = ${chat.session_id}`;
    }
  };
  const ended = Promise.all([write(), write(), write()]);
  ended.catch(() => {});
  return {
    rounds: () => state.rounds,
    async stop(): Promise<void> {
      state.isOver = true;
      await ended;
    },
  };
}

describe("while others write", () => {
  test("a migration is applied, and no write fails", async () => {
    const url = await createProject();
    const sql = connect(url);
    await fill(sql);
    const writer = keepWriting(url);
    await expect.poll(writer.rounds).toBeGreaterThan(5);
    await applyMigrations(
      sql,
      await migration(`alter table turns add column note text not null default '';
        create function note_turn() returns trigger language plpgsql as $$
        begin new.note := new.status; return new; end $$;
        create trigger note_turn before insert on turns
          for each row execute function note_turn();`),
    );
    await expect.poll(() => sql`select from turns where note = 'running'`).not.toHaveLength(0);
    await writer.stop();
  });

  test("a migration that waits for a long transaction lets all others pass", async () => {
    const url = await createProject();
    const sql = connect(url);
    await fill(sql);
    const writer = keepWriting(url);
    const reader = await connect(url).reserve();
    await reader`begin`;
    await reader`select count(*) from messages`;
    const applied = applyMigrations(sql, await migration("alter table messages add note text"));
    const isWaiting = async () => {
      const rows = await sql`
        select from pg_locks where mode = 'AccessExclusiveLock' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      return rows.length > 0;
    };
    for (let tries = 0; tries < 2; tries++) {
      await expect.poll(isWaiting, { interval: 10 }).toBe(true);
      await expect.poll(isWaiting, { interval: 10 }).toBe(false);
    }
    const before = writer.rounds();
    await expect.poll(writer.rounds).toBeGreaterThan(before);
    await reader`commit`;
    reader.release();
    await applied;
    await writer.stop();
    await sql`update messages set note = 'there' where false`;
  });

  test("an index is built outside of a transaction, also after an attempt that was cut", async () => {
    const url = await createProject();
    const sql = connect(url);
    await fill(sql);
    // The index left behind by an interrupted attempt.
    await sql`create index messages_role on messages (role)`;
    await sql`update pg_index set indisvalid = false where indexrelid = 'messages_role'::regclass`;
    const writer = keepWriting(url);
    const text = `-- Finds messages by role.
      drop index concurrently if exists public.messages_role;
      create index concurrently messages_role on public.messages (role);`;
    const file = await migration(text);
    // Two servers start at the same time.
    await Promise.all([applyMigrations(sql, file), applyMigrations(connect(url), file)]);
    await writer.stop();
    const [index] = await sql`
      select indisvalid from pg_index where indexrelid = 'messages_role'::regclass`;
    expect(index?.indisvalid).toBe(true);
  });
});

describe("a migration takes only short locks", () => {
  let sql: Sql;
  beforeAll(async () => {
    const url = await createProject();
    sql = connect(url);
    await fill(sql);
  });

  /** The parts of a migration whose duration grows with the table. Without any, it is applied. */
  async function faultsOf(text: string): Promise<string[]> {
    const done = new Error("rolled back");
    let faults: string[] = [];
    await sql
      .begin(async (transaction) => {
        faults = await lockingChanges(transaction, () => transaction.unsafe(text).simple());
        if (faults.length > 0) throw done;
      })
      .catch((error: unknown) => {
        if (error !== done) throw error;
      });
    return faults;
  }

  test.each([
    ["alter table messages alter column role type varchar(20)", "rewrites messages"],
    ["alter table messages add column token uuid default gen_random_uuid()", "rewrites messages"],
    ["create index slow on messages (role)", "builds the index slow on messages"],
    [
      "alter table messages add constraint slow check (role <> 'x')",
      "checks all rows of messages for slow",
    ],
    [
      "alter table task_runs alter column started_at set not null",
      /started_at.*contains null values|checks all rows of task_runs for started_at not null/,
    ],
    ["update messages set metadata = '{}'", "writes more than 500 rows of messages"],
    ["delete from task_runs", "writes more than 500 rows of task_runs"],
  ])("%s is noticed", async (text, fault) => {
    const noticed = await faultsOf(text).catch((error: unknown) => [String(error)]);
    expect(noticed.join()).toMatch(fault);
  });

  test.each([
    "alter table messages add column note text not null default ''",
    "alter table messages add constraint quick check (role <> 'x') not valid",
    "create table fresh (id uuid primary key); create index on fresh (id)",
    "drop table fresh",
  ])("%s is allowed", async (text) => {
    expect(await faultsOf(text)).toEqual([]);
  });

  test("so does each migration since the baseline", async () => {
    for (const { file, text } of listMigrations("supabase").slice(1)) {
      const statements = text();
      if (/^(create( unique)?|drop) index concurrently\b/im.test(statements)) continue;
      // Others write while it reads the table.
      if (/^alter table \S+ validate constraint \S+;\s*$/i.test(statements)) continue;
      expect(await faultsOf(statements), file).toEqual([]);
    }
  });
});
