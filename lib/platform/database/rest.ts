/** SQL functions over Supabase's REST API, where only that can be reached. */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { createClient } from "@supabase/supabase-js";
import { inSpan } from "../telemetry/spans.ts";
import type { Database } from "./port.ts";
import { sqlSpan } from "./telemetry.ts";

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

/** The time after which a silent database counts as unavailable. */
const TIMEOUT_MS = 10_000;

/** The default of `REQUESTS_AT_ONCE`, of which one account may use half. */
const pool = { keepAlive: true, maxSockets: 128 };
const httpAgent = new HttpAgent(pool);
const httpsAgent = new HttpsAgent(pool);

/** Supports the requests of supabase-js: a URL, and a string as the body. */
const keepAliveFetch: typeof fetch = (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input);
  // The last part of the path is the table or the function; rows are named in the query.
  const operation = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  return inSpan(`sql ${operation}`, sqlSpan(operation), async (span) => {
    const response = await send(url, init);
    if (response.status >= 500) span.fail(String(response.status));
    return response;
  });
};

function send(url: URL, init: RequestInit): Promise<Response> {
  const body = typeof init.body === "string" ? init.body : undefined;
  const headers = Object.fromEntries(new Headers(init.headers));
  if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const options: RequestOptions = {
    method: init.method ?? "GET",
    headers,
    signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
  };
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const request =
    url.protocol === "https:"
      ? httpsRequest(url, { ...options, agent: httpsAgent })
      : httpRequest(url, { ...options, agent: httpAgent });
  request.on("error", reject);
  request.on("response", (response) => {
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => pieces.push(piece));
    response.on("error", reject);
    response.on("end", () => {
      const status = response.statusCode ?? 502;
      const headers = new Headers();
      for (const [name, values] of Object.entries(response.headersDistinct)) {
        for (const value of values ?? []) headers.append(name, value);
      }
      const empty = status === 204 || status === 304;
      resolve(new Response(empty ? null : Buffer.concat(pieces), { status, headers }));
    });
  });
  request.end(body);
  return promise;
}
