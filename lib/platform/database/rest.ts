/** SQL functions over Supabase's REST API, where only that can be reached. */

import { inSpan, sqlSpan } from "@platform/kit/telemetry/spans";
import { createClient } from "@supabase/supabase-js";
import { EnvHttpProxyAgent, request } from "undici";
import { type Database, sqlName } from "./port.ts";

/** The time after which a silent database counts as unavailable. */
const TIMEOUT_MS = 10_000;
/** As many as requests at a time in a process, of which one account may use half. */
const agent = new EnvHttpProxyAgent({ connections: 128 });

/** @param secretKey bypasses row-level security */
export function createRestDatabase(url: string, secretKey: string): Database {
  const client = createClient(url, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: databaseFetch },
  });
  return {
    call: async (name, args) => {
      const entries = Object.entries(args).map(([key, value]) => [sqlName(key), value]);
      return client.rpc(name, Object.fromEntries(entries));
    },
    close: async () => {},
  };
}

/**
 * Supports the requests of supabase-js: a URL, and a string as the body. It costs half the CPU of the
 * global `fetch`, which Next has also wrapped with a cache.
 */
const databaseFetch: typeof fetch = (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input);
  // The last part of the path is the table or the function; rows are named in the query.
  const operation = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  return inSpan(`sql ${operation}`, sqlSpan(operation), async (span) => {
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(url, {
      dispatcher: agent,
      method: init.method === "GET" ? "GET" : "POST",
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === "string" ? init.body : null,
      signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
    });
    const { statusCode: status } = answer;
    const bytes = await answer.body.arrayBuffer();
    if (status >= 500) span.fail(String(status));
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(answer.headers)) {
      for (const value of [values].flat()) headers.append(name, value);
    }
    const isEmpty = status === 204 || status === 304;
    return new Response(isEmpty ? null : bytes, { status, headers });
  });
};
