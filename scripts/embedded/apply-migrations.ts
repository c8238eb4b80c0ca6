import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres, { type ReservedSql, type Sql } from "postgres";
import { BASELINE_VERSION } from "../../lib/platform/database/schema-version.ts";
import { pendingMigrations, recordedVersions } from "./list-migrations.ts";
import { upgradeToBaseline } from "./upgrade-to-baseline.ts";

/**
 * The maximum wait of a migration's statement for a lock, and of all statements queued behind it. It is shorter than
 * PostgreSQL's `deadlock_timeout` of a second, so of two transactions that wait for each other the migration gives way.
 */
const LOCK_TIMEOUT_MS = 500;
const LOCK_ATTEMPTS = 30;
const MAX_PAUSE_MS = 5_000;
/** A lock that is not available, or that would have been a deadlock. */
const LOCK_FAULTS = ["55P03", "40P01"];
const POLL_MS = 100;

/** As the Supabase CLI does in a project to which it has not applied anything yet. */
const CREATE_RECORD = `
  create schema if not exists supabase_migrations;
  create table if not exists supabase_migrations.schema_migrations (
    version text primary key, statements text[], name text);
  create table if not exists supabase_migrations.seed_files (path text primary key, hash text not null)`;

/**
 * Where service_role may not bypass row-level security, because no superuser has created it, a policy lets it through in
 * each table that belongs to this login. It changes nothing for the other roles.
 */
const LET_SERVICE_ROLE_THROUGH = `
  do $$
  declare
    t record;
  begin
    for t in
      select c.oid::regclass as name
      from pg_class c
      join pg_roles r on r.rolname = 'service_role' and not r.rolbypassrls
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
        and pg_has_role(c.relowner, 'usage')
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'service_role')
    loop
      execute format(
        'create policy service_role on %s to service_role using (true) with check (true)', t.name);
    end loop;
  end
  $$`;

/**
 * Applies the baseline, which `<folder>/schemas/*.sql` defines, then `<folder>/migrations/*.sql` in the order of their
 * names, then `<folder>/seed.sql`. Each is applied once and recorded where the Supabase CLI records it: in a
 * transaction, unless it consists of `create index concurrently` and `drop index concurrently`. A database of the
 * history before the baseline is upgraded to it.
 *
 * Servers may be running: a migration that cannot have a lock within half a second gives up its other locks,
 * and is tried again after a pause.
 *
 * @throws Error with the name of the file whose SQL failed; earlier files stay applied
 */
export async function applyMigrations(sql: Sql, folder: string): Promise<void> {
  const connection = await sql.reserve();
  // Servers that start concurrently on one database must not apply the same file.
  const lock = 7_306_411_208;
  await takeTurn(connection, lock);
  try {
    await connection.unsafe(CREATE_RECORD).simple();
    const recorded = await recordedVersions(connection);
    const [first] = await pendingMigrations(connection, folder);
    if (first?.version === BASELINE_VERSION && recorded.length > 0) {
      await inTransaction(connection, `migrations/${first.file}`, () =>
        upgradeToBaseline(connection, folder, first, recorded),
      );
    }
    for (const migration of await pendingMigrations(connection, folder)) {
      const { file, version, name } = migration;
      const text = migration.text();
      const record = () => connection`
        insert into supabase_migrations.schema_migrations (version, name, statements)
        values (${version}, ${name}, ${[text]})`;
      if (isConcurrent(text)) await runConcurrent(connection, `migrations/${file}`, text, record);
      else {
        await inTransaction(connection, `migrations/${file}`, async () => {
          await connection.unsafe(text).simple();
          await record();
        });
      }
    }
    await inTransaction(connection, "migrations", async () => {
      await connection.unsafe(LET_SERVICE_ROLE_THROUGH).simple();
    });
    await seed(connection, folder);
  } finally {
    await connection`select pg_advisory_unlock(${lock})`;
    connection.release();
  }
}

/**
 * Waits without a statement in progress: `create index concurrently` waits for the end of all others,
 * and so for each server that waits for its turn.
 */
async function takeTurn(connection: ReservedSql, lock: number): Promise<void> {
  for (;;) {
    const [row] = await connection`select pg_try_advisory_lock(${lock}) as taken`;
    if (row?.taken === true) return;
    await delay(POLL_MS);
  }
}

const statementsOf = (text: string): string[] =>
  text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter(Boolean);

const isConcurrent = (text: string): boolean =>
  statementsOf(text).every((statement) =>
    /^(create( unique)?|drop) index concurrently\b/i.test(statement),
  );

/** A cut leaves an invalid index, which the `drop index concurrently if exists` before it removes. */
async function runConcurrent(
  connection: ReservedSql,
  file: string,
  text: string,
  record: () => PromiseLike<unknown>,
): Promise<void> {
  try {
    for (const statement of statementsOf(text)) await connection.unsafe(statement).simple();
    await record();
  } catch (error) {
    throw failure(file, error);
  }
}

async function seed(connection: ReservedSql, folder: string): Promise<void> {
  const file = join(folder, "seed.sql");
  if (!existsSync(file)) return;
  const path = "supabase/seed.sql";
  const done = await connection`
    select from supabase_migrations.seed_files where path = ${path}`;
  if (done.length > 0) return;
  const text = readFileSync(file, "utf8");
  await inTransaction(connection, "seed.sql", async () => {
    await connection.unsafe(text).simple();
    await connection`
      insert into supabase_migrations.seed_files (path, hash)
      values (${path}, ${createHash("sha256").update(text).digest("hex")})`;
  });
}

async function inTransaction(
  connection: ReservedSql,
  file: string,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await connection`begin`;
    try {
      await connection`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
      await work();
      await connection`commit`;
      return;
    } catch (error) {
      await connection`rollback`;
      if (!isLocked(error) || attempt === LOCK_ATTEMPTS) throw failure(file, error);
    }
    await delay(Math.min(LOCK_TIMEOUT_MS * 2 ** (attempt - 1), MAX_PAUSE_MS));
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && LOCK_FAULTS.includes(error.code);

function failure(file: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = isLocked(cause)
    ? ". End the long transaction that holds the lock (see pg_stat_activity), and try again"
    : "";
  return new Error(`supabase/${file} failed: ${reason}${remedy}`, { cause });
}
