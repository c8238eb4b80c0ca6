import { rm } from "node:fs/promises";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import postgres from "postgres";
import { expect, inject } from "vitest";
import { startParts } from "../../../scripts/start-parts.ts";
import { noteSettings } from "../secrets/known.ts";
import { StorageSearch } from "../secrets/search-storage.ts";
import { copyDataDir } from "./database-template.ts";

export const stack = inject("stack");

/** A setting of the shared server, such as `SUPABASE_JWT_SECRET` or `API_KEY_SECRET`. */
export function setting(name: string): string {
  const value = stack.env[name];
  if (value === undefined) throw new Error(`The test stack has no ${name}.`);
  return value;
}

const options = { max: 4, idle_timeout: 5, onnotice: () => {} };
/** PostgreSQL itself, past row-level security. */
export const sql = postgres(setting("DATABASE_URL"), options);

const createSupabase = (key: string): SupabaseClient =>
  createClient(setting("SUPABASE_URL"), setting(key), {
    auth: { persistSession: false, autoRefreshToken: false },
  });

/** Supabase as the application sees it (service role). */
export const admin = createSupabase("SUPABASE_SECRET_KEY");

/** Supabase as anybody with the public key sees it. */
export const anonymous = createSupabase("SUPABASE_PUBLISHABLE_KEY");

/**
 * A separate database, migrated and with the engine's tables, for tests that damage theirs. Its
 * `env` goes into `startServer({ env })`.
 */
export async function startOwnParts() {
  const dataDir = copyDataDir(stack.template);
  const parts = await startParts({ dataDir, publicUrl: stack.url, given: {} });
  noteSettings(stack.records, parts.env);
  const env: Record<string, string> = { ...parts.env, DATA_DIR: dataDir };
  return {
    env,
    /** Fails when the remaining data contains a secret of the tests. */
    async stop() {
      const search = new StorageSearch(stack.records);
      // A database that a test has broken is searched as the files that it consists of.
      const rows = await search.database(parts.env.DATABASE_URL ?? "").catch(() => []);
      await parts.stop();
      const traces = [...rows, ...(await search.folder(dataDir, stack.template))];
      await rm(dataDir, { recursive: true, force: true });
      expect(traces, "secrets that were left behind").toEqual([]);
    },
  };
}
