/** Requests to URLs that callers name. */
import { fetch, type Response } from "undici";
import type { TurnPolicies } from "../network-policy.ts";
import { isHostAllowed } from "./network-policy.ts";
import { faultOfUrl, isLoopback } from "./public-address.ts";
import { anywhere, publicOnly } from "./public-only.ts";
import { traceRequest } from "./vendor-fetch.ts";

const MAX_REDIRECTS = 5;

/**
 * Returns the successful response after all redirects; null when there is none. Nothing of a caller is sent
 * along, and every address on the way must be public, and its host allowed by the policies.
 */
export async function fetchPublic(
  first: URL,
  allowLoopback: boolean,
  signal: AbortSignal,
  policies: TurnPolicies = [],
): Promise<Response | null> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (faultOfUrl(url, allowLoopback) !== null || !isHostAllowed(policies, url.hostname))
      return null;
    const response = await traceRequest("web", "GET", () =>
      fetch(url, {
        headers: { accept: "*/*", "user-agent": "agent-platform" },
        redirect: "manual",
        signal,
        dispatcher: allowLoopback && isLoopback(url) ? anywhere : publicOnly,
      }),
    );
    if (response.ok) return response;
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return null;
    url = new URL(location, url);
  }
  return null;
}
