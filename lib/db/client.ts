/** The only importer of supabase-js: one client with the secret key, which bypasses row security. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { config } from "../config.ts";

/** Milliseconds after which a silent database counts as unavailable. */
const DEADLINE = 10_000;

declare global {
  // `next dev` evaluates a module again for each route: only globalThis holds a singleton.
  var agentPlatformDb: SupabaseClient | undefined;
}

export function db(): SupabaseClient {
  globalThis.agentPlatformDb ??= createClient(config().SUPABASE_URL, config().SUPABASE_SECRET_KEY, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: fetchWithDeadline },
  });
  return globalThis.agentPlatformDb;
}

const fetchWithDeadline: typeof fetch = (input, init) => {
  const deadline = AbortSignal.timeout(DEADLINE);
  const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
  return fetch(input, { ...init, signal, cache: "no-store" });
};
