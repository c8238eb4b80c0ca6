import { describe, expect, it } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
import { anonymous, setting, sql } from "../support/harness/stack.ts";

const tables = (
  await sql<{ name: string; secured: boolean }[]>`
  select c.relname as name, c.relrowsecurity as secured
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1`
).map((row) => ({ ...row }));
const functions = (
  await sql<{ name: string }[]>`
  select distinct p.proname as name
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'public' order by 1`
).map(({ name }) => name);

describe("the public key of Supabase", () => {
  it.each(tables.map(({ name }) => name))("reads and writes nothing in %s", async (table) => {
    const read = await anonymous.from(table).select("*").limit(1);
    expect(read.data ?? []).toEqual([]);
    const [column] = await sql`select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = ${table} limit 1`;
    const written = await anonymous.from(table).insert({ [column?.name]: null });
    // Not a constraint that happens to refuse the row: the right itself is missing.
    expect(written.error?.code).toBe("42501");
  });

  it("has no right on any table or function, in the database itself", async () => {
    const [found] = await sql`
      select
        (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'public' and c.relkind in ('r', 'p', 'v')
           and (has_table_privilege('anon', c.oid, 'select, insert, update, delete')
             or has_table_privilege('authenticated', c.oid, 'select, insert, update, delete'))
        ) as tables,
        (select count(*)::int from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = 'public'
           and (has_function_privilege('anon', p.oid, 'execute')
             or has_function_privilege('authenticated', p.oid, 'execute'))
        ) as functions`;
    expect(found).toEqual({ tables: 0, functions: 0 });
  });

  it.each(functions)("cannot call %s", async (name) => {
    const answer = await anonymous.rpc(name, {});
    expect(answer.error).not.toBeNull();
  });

  it("cannot authenticate by itself, even with the right arguments", async () => {
    const person = await createPerson();
    const answer = await anonymous.rpc("authenticate_email", { p_email: person.email });
    expect(answer.error).not.toBeNull();
    expect(answer.data).toBeNull();
  });

  it("reads nothing with the token of a signed-in person either", async () => {
    const person = await createPerson();
    for (const { name } of tables) {
      const response = await fetch(`${setting("SUPABASE_URL")}/rest/v1/${name}?select=*&limit=1`, {
        headers: {
          apikey: setting("SUPABASE_PUBLISHABLE_KEY"),
          authorization: `Bearer ${person.bearer}`,
        },
      });
      const body: unknown = await response.json();
      expect(response.ok ? body : [], name).toEqual([]);
    }
  });
});
