/** The only importer of supabase-js: one client with the secret key, which bypasses row security. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { config } from "../config.ts";
import { keepAliveFetch } from "../outbound/keep-alive-fetch.ts";

declare global {
  // `next dev` evaluates a module again for each route: only globalThis holds a singleton.
  var agentPlatformDb: SupabaseClient | undefined;
}

export function db(): SupabaseClient {
  globalThis.agentPlatformDb ??= createClient(config().SUPABASE_URL, config().SUPABASE_SECRET_KEY, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: keepAliveFetch },
  });
  return globalThis.agentPlatformDb;
}
