import { randomUUID } from "node:crypto";

/** The caller's own id when it is 1..128 visible ASCII characters, else a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}
