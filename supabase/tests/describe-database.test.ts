/** The database's description of itself for the check of an installation. */
import { expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../lib/platform/database/schema-version.ts";
import { admin, anonymous, sql } from "../../tests/support/harness/stack.ts";
import { rolledBack } from "./transaction.ts";

test("it is the newest migration, the clock and the limits", async () => {
  const before = Date.now();
  const { data } = await admin.rpc("describe_database");
  const [row] = await sql`select installation_id() as id`;
  expect(data).toMatchObject({ newest_migration: SCHEMA_VERSION, installation_id: row?.id });
  expect(data.clock_ms).toBeGreaterThanOrEqual(before - 1);
  expect(data.clock_ms).toBeLessThanOrEqual(Date.now() + 1);
});

test("nobody but the service role may ask", async () => {
  expect((await anonymous.rpc("describe_database")).error?.code).toBe("42501");
});

test("the newest migration is null where none are recorded", async () => {
  await rolledBack(async ({ sql: own }) => {
    await own`alter schema supabase_migrations rename to elsewhere`;
    const [row] = await own`select describe_database() ->> 'newest_migration' as newest`;
    expect(row?.newest).toBeNull();
  });
});
