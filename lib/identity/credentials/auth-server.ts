/** Requests to Supabase Auth. */
import { config } from "../../platform/config.ts";
import { vendorFetch } from "../../platform/outbound/vendor-fetch.ts";

const TIMEOUT_MS = 15_000;

/**
 * Sends a request. @param apikey the project's public key, or its secret key for admin requests
 * @throws the error of `fetch` when the auth server cannot be reached or takes too long
 */
export function askAuthServer(
  path: string,
  apikey: string,
  init: { readonly method: string; readonly bearer?: string; readonly body?: unknown },
): Promise<Response> {
  const headers = new Headers({ apikey, "content-type": "application/json" });
  if (init.bearer !== undefined) headers.set("authorization", `Bearer ${init.bearer}`);
  return vendorFetch("auth", new URL(`/auth/v1/${path}`, config().SUPABASE_URL), {
    method: init.method,
    headers,
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}
