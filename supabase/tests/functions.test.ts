/** The descriptions of SQL functions compiled into the service equal the database's. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { functions } from "../../lib/platform/database/functions.ts";
import { type FunctionName, sqlName } from "../../lib/platform/database/port.ts";
import { PostgresDatabase } from "../../lib/platform/database/postgres.ts";
import { createRestDatabase } from "../../lib/platform/database/rest.ts";
import { createAccount } from "../../tests/support/harness/clients.ts";
import { sql, stack } from "../../tests/support/harness/stack.ts";

test("names, arguments and results", async () => {
  const rows = await sql<{ name: string; args: Record<string, string>; returns: string }[]>`
    select p.proname as name,
      (select coalesce(json_object_agg(p.proargnames[a.position], format_type(a.type, null)
          order by a.position), '{}')
        from unnest(p.proargtypes) with ordinality as a(type, position)) as args,
      case when p.prorettype = 'void'::regtype then 'nothing'
        when t.typtype = 'c' or p.prorettype = 'record'::regtype
          then case when p.proretset then 'rows' else 'row' end
        else case when p.proretset then 'texts' else format_type(p.prorettype, null) end end as returns
    from pg_proc p join pg_type t on t.oid = p.prorettype
    where p.pronamespace = 'public'::regnamespace and p.proname = any (${Object.keys(functions)})`;
  const known = Object.fromEntries(
    rows.map(({ name, args, returns }) => [name, { args, returns }]),
  );
  const described = Object.entries(functions).map(([name, { args, returns }]) => {
    const named = Object.entries(args).map(([key, type]) => [sqlName(key), type]);
    return [name, { args: Object.fromEntries(named), returns }];
  });
  expect(known).toEqual(Object.fromEntries(described));
});

const { env } = stack;
const adapters = [
  new PostgresDatabase(env.DATABASE_URL ?? "", 2),
  new PostgresDatabase(env.DATABASE_URL ?? "", 2, false),
  createRestDatabase(env.SUPABASE_URL ?? "", env.SUPABASE_SECRET_KEY ?? ""),
] as const;
const account = await createAccount();
const [session] = await sql`insert into sessions (account_id) values (${account.id}) returning id`;
const [chat] = await sql`insert into chats (account_id, session_id)
  values (${account.id}, ${session?.id}) returning id`;

async function newTurn(): Promise<string> {
  const turnId = randomUUID();
  await sql`
    insert into turns (id, account_id, session_id, chat_id, message_id, assistant_message_id, model_id)
    values (${turnId}, ${account.id}, ${session?.id}, ${chat?.id}, 'm', 'a', 'x')`;
  return turnId;
}

const address = {
  accountId: account.id,
  sessionId: session?.id,
  chatId: chat?.id,
};
const page = { afterAt: null, afterId: null, maxBytes: 1_000 };

test.each<[string, FunctionName, (turnId: string) => Record<string, unknown>]>([
  ["an array of texts", "start_tools", (id) => ({ turnId: id, callIds: ["a,b", '"c"'] })],
  ["null", "run_of_turn", (id) => ({ turnId: id })],
  ["no argument", "installation_id", () => ({})],
  ["rows", "list_keys", () => ({ accountId: account.id })],
  ["texts", "get_chat_body_page", () => ({ ...address, ...page })],
  ["no texts", "get_chat_body_page", (id) => ({ ...address, chatId: id, ...page })],
  ["JSON", "note_task_progress", (id) => ({ id: id, metadata: { é: "\\ ' \n" } })],
  ["a malformed id", "run_of_turn", () => ({ turnId: "no id" })],
  [
    "a rule that is raised",
    "rotate_key",
    (id) => ({
      ...{ accountId: account.id, id: id, hash: id, prefix: "p" },
      ...{ graceSeconds: 0, max: 1 },
    }),
  ],
])("all adapters answer alike: %s", async (_, name, args) => {
  const [direct, shared, overRest] = await Promise.all(
    adapters.map(async (database) => {
      const { data, error } = await database.call(name, args(await newTurn()));
      return { data, code: error?.code ?? null, message: error?.message ?? null };
    }),
  );
  expect([direct, shared]).toEqual([overRest, overRest]);
});
