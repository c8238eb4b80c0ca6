/**
 * The headers of every response of the API. CORS is of a public API without cookies: any origin may call
 * it, and no credentials are included.
 */
import { randomUUID } from "node:crypto";

const ALLOWED_HEADERS =
  "content-type, authorization, x-api-key, idempotency-key, x-request-id, last-event-id, prefer, if-match, if-none-match, traceparent, baggage, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name";
const EXPOSED_HEADERS =
  "x-workflow-run-id, x-workflow-stream-start-index, x-workflow-stream-tail-index, x-request-id, x-error-code, retry-after, ratelimit, ratelimit-policy, location, link, etag, www-authenticate, x-ignored-fields, idempotency-replayed";

/** Returns the caller's `x-request-id` if it is 1 to 128 visible ASCII characters, else a new id. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

/** Returns a new response, because a handler's may be immutable. Streams pass through unchanged. */
export function withSharedHeaders(
  response: Response,
  requestId: string,
  dependsOnCredential: boolean,
): Response {
  const headers = new Headers(response.headers);
  headers.set("x-request-id", requestId);
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  if (dependsOnCredential) {
    const streams = headers.get("content-type")?.startsWith("text/event-stream");
    headers.set("cache-control", streams ? "no-store, no-transform" : "no-store");
  }
  return new Response(response.body, { status: response.status, headers });
}

/** Responds to `OPTIONS`. @param allow the methods of the path, separated by commas */
export function preflight(allow: string, requestId: string): Response {
  const headers = {
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "86400",
  };
  return withSharedHeaders(new Response(null, { status: 204, headers }), requestId, false);
}
