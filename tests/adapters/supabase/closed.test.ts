import { expect, test } from "vitest";
import { anonymous, sql } from "../../support/harness/stack.ts";

// Objects made by migrations; concurrent tests may create tables for a while.
const ours = sql`relname not like 'probe%'`;

test("every table of the product has row-level security", async () => {
  const tables = await sql`
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and ${ours}`;
  expect(tables.length).toBeGreaterThan(2);
  const open = await sql`
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and ${ours}
      and not relrowsecurity`;
  expect(open).toEqual([]);
});

test("the public key reads no table and no view, whatever it asks for", async () => {
  const relations = await sql<{ relname: string }[]>`
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and ${ours}`;
  for (const { relname } of relations) {
    const { data, status } = await anonymous.from(relname).select();
    expect([relname, data ?? [], status < 500]).toEqual([relname, [], true]);
  }
});

test("no function of the product can be called with the public key", async () => {
  const callable = await sql`
    select proname from pg_proc
    where pronamespace = 'public'::regnamespace and proname not like 'probe%'
      and (has_function_privilege('anon', oid, 'execute')
        or has_function_privilege('authenticated', oid, 'execute'))`;
  expect(callable).toEqual([]);
});
