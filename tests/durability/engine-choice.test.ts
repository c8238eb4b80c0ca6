/** Which engine runs the turns, by the settings. */

import { expect, it } from "vitest";
import { createEngine } from "../../lib/app.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { unusedDatabase } from "../support/harness/unused-database.ts";

const required = {
  SUPABASE_URL: "http://127.0.0.1:1",
  SUPABASE_SECRET_KEY: "none",
  API_KEY_SECRET: "0".repeat(32),
};
const onVercel = {
  VERCEL: "1",
  PUBLIC_URL: "https://example.com",
  SMTP_URL: "smtps://mail.example.com",
  MAIL_FROM: "no-reply@example.com",
};
const engineOf = async (settings: Record<string, string>): Promise<string> =>
  (await createEngine(unusedDatabase, parseConfig({ ...required, ...settings }))).name;

const DATABASE_URL = "postgres://127.0.0.1:1/none";

it("is this project's own where there is a database", async () => {
  expect(await engineOf({ DATABASE_URL })).toBe("postgres");
});

it("is Vercel's on Vercel, whatever an integration sets", async () => {
  expect(await engineOf(onVercel)).toBe("workflow:vercel");
  expect(await engineOf({ ...onVercel, DATABASE_URL })).toBe("workflow:vercel");
});

it("is the World that is named, anywhere", async () => {
  const named = { WORKFLOW_TARGET_WORLD: "@workflow/world-postgres" };
  expect(await engineOf(named)).toBe("workflow:@workflow/world-postgres");
  expect(await engineOf({ ...named, ...onVercel, DATABASE_URL })).toBe(
    "workflow:@workflow/world-postgres",
  );
});

it("cannot be none", async () => {
  await expect(engineOf({})).rejects.toThrow("DATABASE_URL: must be set");
});
