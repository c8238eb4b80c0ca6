import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findRunning } from "./find-running.ts";
import { keepSecrets } from "./keep-secrets.ts";
import { type ServedDatabase, servedDatabase } from "./start-lite.ts";

const fileOf = (dataDir: string): string => join(dataDir, "supabase.url");

/** Stores where Supabase is served, for commands that run beside the server. */
export const recordSupabaseUrl = (dataDir: string, url: string): void =>
  writeFileSync(fileOf(dataDir), url);

/** Returns how to reach the Supabase that another process runs on `dataDir`; undefined without one. */
export function findServed(dataDir: string, siteUrl: string): ServedDatabase | undefined {
  const databaseUrl = findRunning(dataDir);
  if (databaseUrl === undefined) return undefined;
  const supabaseUrl = readFileSync(fileOf(dataDir), "utf8");
  return servedDatabase(keepSecrets(dataDir), { databaseUrl, supabaseUrl, siteUrl });
}
