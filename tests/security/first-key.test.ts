/**
 * Which accounts get a first key: none whose key was revoked.
 * `tests/adapters/supabase/launcher.test.ts` tests `npm start`.
 */
import postgres from "postgres";
import { afterEach, expect, inject, test, vi } from "vitest";
import { seedAccount } from "../../scripts/seed-development.ts";
import { endCopies, newFolder, npmRunKey } from "../adapters/supabase/copies.ts";
import { setting, sql, startOwnParts } from "../support/harness/stack.ts";

// Each starts whole copies, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 450_000, hookTimeout: 450_000 });

afterEach(endCopies);

const statusOf = async (url: string, key: string | undefined) =>
  (await fetch(`${url}/api/keys`, { headers: { "x-api-key": key ?? "" } })).status;

test("the key of development is the same at every start until it is revoked, and never revived", async () => {
  const parts = await startOwnParts();
  const own = postgres(parts.env.DATABASE_URL ?? "", { max: 1 });
  try {
    const first = await seedAccount(parts.env);
    expect(await seedAccount(parts.env)).toBe(first);
    await own`update api_keys set revoked_at = now()`;
    const next = await seedAccount(parts.env);
    expect(next).not.toBe(first);
    expect(await seedAccount(parts.env)).toBe(next);
    const holding = await own`select prefix from api_keys where revoked_at is null`;
    expect(holding.map(({ prefix }) => prefix)).toEqual([next.slice(0, 7)]);
  } finally {
    await own.end();
    await parts.stop();
  }
});

test("npm run key makes a key in a hosted project by its settings, and says what is wrong", async () => {
  const dataDir = newFolder();
  const args = ["--email", "hosted@example.com"];
  const hosted = {
    SUPABASE_URL: setting("SUPABASE_URL"),
    SUPABASE_SECRET_KEY: setting("SUPABASE_SECRET_KEY"),
    API_KEY_SECRET: setting("API_KEY_SECRET"),
  };
  const made = await npmRunKey(dataDir, args, hosted);
  expect(made.exit, made.output).toBe(0);
  expect(await statusOf(inject("stack").url, made.key)).toBe(200);
  const lacking = await npmRunKey(dataDir, args, { ...hosted, API_KEY_SECRET: "" });
  expect([lacking.exit, lacking.key]).toEqual([1, undefined]);
  expect(lacking.output).toContain("API_KEY_SECRET");
  const refused = await npmRunKey(dataDir, args, { ...hosted, SUPABASE_SECRET_KEY: "wrong" });
  expect([refused.exit, refused.key]).toEqual([1, undefined]);
  expect(refused.output).toContain("SUPABASE_SECRET_KEY");
  const keys = await sql`
    select from api_keys k join accounts a on a.id = k.account_id
    where a.email = 'hosted@example.com'`;
  expect(keys).toHaveLength(1);
});
