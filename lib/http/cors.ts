/** CORS of a public API without cookies: any origin may call it, and no credentials are included. */
const ALLOWED_HEADERS =
  "content-type, authorization, x-api-key, idempotency-key, x-request-id, last-event-id";
const EXPOSED_HEADERS =
  "x-workflow-run-id, x-workflow-stream-tail-index, x-request-id, x-error-code, retry-after, ratelimit, ratelimit-policy, location, link, idempotency-replayed";

export function addCors(headers: Headers): void {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
}

/** Responds to `OPTIONS`. @param allow the methods of the path, separated by commas */
export function preflight(allow: string, requestId: string): Response {
  const headers = new Headers({
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "86400",
    "x-request-id": requestId,
  });
  addCors(headers);
  return new Response(null, { status: 204, headers });
}
