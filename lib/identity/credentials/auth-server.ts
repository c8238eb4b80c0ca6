/** Requests to Supabase Auth, with its public key unless they need the secret one. */
import { config } from "../../platform/config.ts";

/** Milliseconds that the auth server has for one answer. */
const DEADLINE = 15_000;

/** @throws what `fetch` throws when it cannot be reached or takes too long */
export function askAuthServer(
  path: string,
  apikey: string,
  init: { readonly method: string; readonly bearer?: string; readonly body?: unknown },
): Promise<Response> {
  const headers = new Headers({ apikey, "content-type": "application/json" });
  if (init.bearer !== undefined) headers.set("authorization", `Bearer ${init.bearer}`);
  return fetch(new URL(`/auth/v1/${path}`, config().SUPABASE_URL), {
    method: init.method,
    headers,
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(DEADLINE),
  });
}
