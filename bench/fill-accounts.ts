import type { Sql } from "postgres";
import { hashKey } from "../lib/identity/keys/key-format.ts";
import type { BenchContext } from "./context.ts";

/** The account of the bench's key. */
export async function accountOf(sql: Sql, { key, env }: BenchContext): Promise<string> {
  const hash = hashKey(key, env.API_KEY_SECRET ?? "");
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from api_keys where hash = ${hash}`;
  if (!row) throw new Error("The bench's key is nobody's");
  return row.account_id;
}

/** A thousand other accounts, `bench 0` to `bench 999`, among which the rows can be divided. */
export async function fillAccounts(sql: Sql): Promise<void> {
  await sql`
    insert into accounts (kind, email, name)
    select 'personal', 'bench' || n || '@example.com', 'bench ' || n
    from generate_series(0, 999) n
    on conflict do nothing`;
  await sql`analyze accounts`;
}
