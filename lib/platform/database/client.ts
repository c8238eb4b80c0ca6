/** The only importer of supabase-js: one client with the secret key, which bypasses row-level security. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { config } from "../config.ts";
import { keepAliveFetch } from "../outbound/keep-alive-fetch.ts";
import { processWide } from "../process-wide.ts";

export function db(): SupabaseClient {
  return processWide("database", () =>
    createClient(config().SUPABASE_URL, config().SUPABASE_SECRET_KEY, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
      global: { fetch: keepAliveFetch },
    }),
  );
}
