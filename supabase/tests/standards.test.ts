/** The rules that every table and every function of the schema keeps, asked of the catalog of PostgreSQL. */
import { expect, test } from "vitest";
import { sql } from "../../tests/support/harness/stack.ts";

// Concurrent tests may create tables and functions for a while.
const schema = sql`pg_namespace.nspname = 'public'`;

async function tablesWhere(condition: ReturnType<typeof sql>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select pg_class.relname as name
    from pg_class
    join pg_namespace on pg_namespace.oid = pg_class.relnamespace
    where ${schema} and pg_class.relkind in ('r', 'p') and pg_class.relname not like 'probe%'
      and ${condition}
    order by 1`;
  return rows.map(({ name }) => name);
}

async function functionsWhere(condition: ReturnType<typeof sql>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select pg_proc.oid::regprocedure::text as name
    from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where ${schema} and pg_proc.proname not like 'probe%' and ${condition}
    order by 1`;
  return rows.map(({ name }) => name);
}

const COMMENT = sql`coalesce(obj_description(pg_proc.oid, 'pg_proc'), '')`;

test("the schema has tables and functions to check", async () => {
  expect((await tablesWhere(sql`true`)).length).toBeGreaterThan(25);
  expect((await functionsWhere(sql`true`)).length).toBeGreaterThan(100);
});

test("every table has row-level security and no policy", async () => {
  expect(await tablesWhere(sql`not pg_class.relrowsecurity`)).toEqual([]);
  expect(
    await tablesWhere(sql`exists (select from pg_policy where polrelid = pg_class.oid)`),
  ).toEqual([]);
});

test("every table has a comment", async () => {
  expect(await tablesWhere(sql`obj_description(pg_class.oid, 'pg_class') is null`)).toEqual([]);
});

test("every function has a comment", async () => {
  expect(await functionsWhere(sql`${COMMENT} = ''`)).toEqual([]);
});

test("every function has an empty search path, or says in its comment why not", async () => {
  const lacking = await functionsWhere(sql`
    not ('search_path=""' = any (coalesce(pg_proc.proconfig, '{}')))
    and ${COMMENT} not like '%Inlined, hence no search_path.'`);
  expect(lacking).toEqual([]);
});

test("a function without a search path is one that PostgreSQL can inline", async () => {
  const inlined = sql`pg_proc.proconfig is null`;
  const language = sql`(select lanname from pg_language where oid = pg_proc.prolang)`;
  expect(
    await functionsWhere(sql`${inlined}
      and (${language} <> 'sql' or pg_proc.provolatile = 'v' or pg_proc.prosecdef
        or (not pg_proc.proretset and pg_proc.prosrc ~* '\\y(from|exists)\\y'))`),
  ).toEqual([]);
});

test("every function runs with the rights of its caller", async () => {
  expect(await functionsWhere(sql`pg_proc.prosecdef`)).toEqual([]);
});

test("no function has overloads", async () => {
  expect(
    await functionsWhere(sql`exists (select from pg_proc other
      where other.pronamespace = pg_proc.pronamespace and other.proname = pg_proc.proname
        and other.oid <> pg_proc.oid)`),
  ).toEqual([]);
});

test("parameters are named p_, and variables v_", async () => {
  expect(
    await functionsWhere(sql`exists (
      select from unnest(pg_proc.proargnames) as name where name not like 'p\\_%')`),
  ).toEqual([]);
  const undeclared = await sql<{ name: string; variable: string }[]>`
    select pg_proc.oid::regprocedure::text as name, matched[1] as variable
    from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    join pg_language on pg_language.oid = pg_proc.prolang
    cross join regexp_matches(
      substring(pg_proc.prosrc from '^\\s*declare\\n(.*?)\\nbegin\\n'),
      '^  ([a-z_]+) ', 'gn') as matched
    where ${schema} and pg_language.lanname = 'plpgsql' and matched[1] not like 'v\\_%'`;
  expect(undeclared.map(({ name, variable }) => `${name}: ${variable}`)).toEqual([]);
});
