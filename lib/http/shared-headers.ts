/** What every response carries, whoever made it. Decisions, section 1. */
import { randomUUID } from "node:crypto";
import { addCors } from "./cors.ts";

/** The caller's own id when it is 1..128 visible ASCII characters, else a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

/** A new response, because a handler's may be immutable; a stream passes through untouched. */
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
