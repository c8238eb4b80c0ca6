/** Which engine runs the turns, by the settings. */
import { expect, it } from "vitest";
import { parseConfig } from "../../lib/platform/config.ts";
import { createServices } from "../../lib/platform/services.ts";

const required = {
  SUPABASE_URL: "http://127.0.0.1:1",
  SUPABASE_SECRET_KEY: "none",
  API_KEY_SECRET: "0".repeat(32),
};
const engineOf = (settings: Record<string, string>): string =>
  createServices(parseConfig({ ...required, ...settings })).engine.name;

const DATABASE_URL = "postgres://127.0.0.1:1/none";

it("is this project's own where there is a database", () => {
  expect(engineOf({ DATABASE_URL })).toBe("postgres");
});

it("is Vercel's on Vercel, whatever an integration sets", () => {
  expect(engineOf({ VERCEL: "1" })).toBe("workflow:vercel");
  expect(engineOf({ VERCEL: "1", DATABASE_URL })).toBe("workflow:vercel");
});

it("is the World that is named, anywhere", () => {
  const named = { WORKFLOW_TARGET_WORLD: "@workflow/world-postgres" };
  expect(engineOf(named)).toBe("workflow:@workflow/world-postgres");
  expect(engineOf({ ...named, DATABASE_URL, VERCEL: "1" })).toBe(
    "workflow:@workflow/world-postgres",
  );
});

it("cannot be none", () => {
  expect(() => engineOf({})).toThrow("DATABASE_URL: must be set");
});
