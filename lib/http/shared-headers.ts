/** The headers of every response of the API. */
import { randomUUID } from "node:crypto";
import { addCors } from "./cors.ts";

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
  addCors(headers);
  if (dependsOnCredential) {
    const streams = headers.get("content-type")?.startsWith("text/event-stream");
    headers.set("cache-control", streams ? "no-store, no-transform" : "no-store");
  }
  return new Response(response.body, { status: response.status, headers });
}
