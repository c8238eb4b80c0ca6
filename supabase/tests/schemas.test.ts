/** The schema files, the migrations, and the upgrade of a database of the history before the baseline. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import postgres, { type Sql } from "postgres";
import { afterAll, expect, test } from "vitest";
import { REPLACED_VERSION } from "../../lib/platform/database/schema-version.ts";
import { applyMigrations } from "../../scripts/embedded/apply-migrations.ts";
import { describeSchema } from "../../scripts/embedded/describe-schema.ts";
import { listMigrations } from "../../scripts/embedded/list-migrations.ts";
import { applyOldMigrations } from "../../tests/support/fixtures/old-migrations.ts";
import { createProject } from "../../tests/support/harness/engine-database.ts";
import { createRows } from "./rows.ts";
import { Transaction } from "./transaction.ts";

const SCHEMAS = "supabase/schemas";

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

async function project(): Promise<Sql> {
  const { url, drop } = await createProject();
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  closers.push(async () => {
    await sql.end({ timeout: 5 });
    await drop();
  });
  return sql;
}

/** Creates an installation whose newest migration is the last one before the baseline. */
async function oldInstallation(): Promise<Sql> {
  const sql = await project();
  await applyOldMigrations(sql);
  return sql;
}

/** Describes a database with all migrations. */
async function currentSchema(): Promise<string[]> {
  const sql = await project();
  await applyMigrations(sql, "supabase");
  return describeSchema(sql);
}

const versions = listMigrations("supabase").map(({ version }) => ({ version }));
const history = (sql: Sql) => sql`
  select version from supabase_migrations.schema_migrations order by version`;

test("the schema files and the migrations make the same schema", async () => {
  const sql = await project();
  const files = (await readdir(SCHEMAS)).sort();
  const texts = files.map((file) => readFile(`${SCHEMAS}/${file}`, "utf8"));
  await sql.unsafe((await Promise.all(texts)).join("\n")).simple();
  expect(await describeSchema(sql)).toEqual(await currentSchema());
});

test("a difference of any kind shows in the description of a schema", async () => {
  const sql = await project();
  await applyMigrations(sql, "supabase");
  let before = await describeSchema(sql);
  for (const change of [
    "alter table sessions add column note text",
    "alter table sessions alter column title drop default",
    "alter table sessions drop constraint sessions_status_check",
    "drop index sessions_artist",
    "alter table sessions disable row level security",
    "create policy everyone on sessions using (true)",
    "alter table sessions disable trigger note_sandbox_removal",
    "alter function get_session(uuid, uuid) volatile",
    "alter function get_session(uuid, uuid) reset search_path",
    "grant select on sessions to anon",
    "grant execute on function get_session(uuid, uuid) to anon",
    "comment on column sessions.title is 'x'",
    "create type kind as (n integer)",
  ]) {
    await sql.unsafe(change);
    const after = await describeSchema(sql);
    expect(after, change).not.toEqual(before);
    before = after;
  }
});

test("an installation of the version before the baseline keeps its data", async () => {
  const sql = await oldInstallation();
  const account = randomUUID();
  await sql`insert into accounts (id, email) values (${account}, 'own@example.com')`;
  const rows = await sql.begin((transaction) => createRows(new Transaction(transaction), account));
  await sql.begin(async (transaction) => {
    await transaction`insert into turn_steps (turn_id, index, result) values (${rows.turn}, 0, '{}')`;
    await transaction`insert into tool_runs (turn_id, tool_call_id) values (${rows.turn}, '1 call')`;
    await transaction`insert into engine.chunks (stream, first_index, count, data, eof)
      values (${rows.turn}, 0, 1, '{}', false)`;
    await transaction`insert into usage_entries
        (account_id, source, step, tool, call, kind, model_id, cost_usd)
      values (${account}, ${rows.turn}, 0, 0, 0, 'chat', 'm', 1)`;
  });
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'engine'::regnamespace)`;
  const isKept = (name: string) => !/_removals$|^running_compactions$/.test(name);
  const read = async () => {
    const found: Record<string, object> = {};
    for (const { name } of tables.filter(({ name }) => isKept(name))) {
      found[name] = await sql.unsafe(`select * from ${name} t order by t::text collate "C"`);
    }
    return found;
  };
  await sql`insert into media_removals (account_id, name) values (${account}, 'a')`;
  await sql`insert into workspace_removals (workspace_id, content_id)
    values (${account}, ${rows.turn})`;
  await sql`insert into sandbox_removals (session_id, sandbox) values (${rows.session}, '{}')`;
  const before = await read();

  await applyMigrations(sql, "supabase");
  expect(await describeSchema(sql)).toEqual(await currentSchema());
  expect(await history(sql)).toEqual(versions);
  const after = await read();
  expect(await sql`select kind, owner_id, name, state from removals order by kind`).toEqual([
    { kind: "content", owner_id: account, name: rows.turn, state: null },
    { kind: "media", owner_id: account, name: "a", state: null },
    { kind: "sandbox", owner_id: rows.session, name: "", state: {} },
  ]);
  for (const { name } of tables) {
    // The seed fills these.
    if (
      name.startsWith("catalog_") ||
      /^(content|agent)_templates$|^(accounts|agent_template_versions)$/.test(name)
    )
      continue;
    expect(after[name], name).toMatchObject(before[name] ?? {});
  }
});

test("a database with another history is left alone, and its operator learns what to do", async () => {
  const sql = await oldInstallation();
  await sql`delete from supabase_migrations.schema_migrations where version = ${REPLACED_VERSION}`;
  const before = await history(sql);
  await expect(applyMigrations(sql, "supabase")).rejects.toThrow(
    /newest migration of the database is 20261213080000, and only a database with 20261213080100 can be upgraded: update/,
  );
  expect(await history(sql)).toEqual(before);
});

test("an installation whose schema was changed by hand is left alone", async () => {
  const sql = await oldInstallation();
  await sql`alter table sessions add column note text`;
  const before = await describeSchema(sql);
  await expect(applyMigrations(sql, "supabase")).rejects.toThrow(
    /differs from the expected one in 1 places: it has "column public sessions note text/,
  );
  expect(await describeSchema(sql)).toEqual(before);
});
