/** SQL functions over Supabase's REST API, where only that can be reached. */
import { createClient } from "@supabase/supabase-js";
import { keepAliveFetch } from "../outbound/keep-alive-fetch.ts";
import type { Database } from "./port.ts";

/** @param secretKey bypasses row-level security */
export function createRestDatabase(url: string, secretKey: string): Database {
  const client = createClient(url, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: keepAliveFetch },
  });
  return {
    name: "rest",
    call: async (name, args) => client.rpc(name, args),
    close: async () => {},
  };
}
