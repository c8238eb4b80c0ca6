/** The request header `Prefer` (RFC 7240). */

/** An item of a list whose quoted strings may contain commas. A quote that is not closed ends with the header. */
const ITEM = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",])+/g;
/** The first item that names the preference, with its value, quoted or not, and without its parameters. */
const HANDLING = /^\s*handling\s*(?:=\s*(?:"([^"]*)"|([^\s";]*)))?\s*(?:;|$)/i;

/** Returns whether the request has `Prefer: handling=strict`. Of several such preferences, the first counts. */
export function prefersStrictHandling(headers: Headers): boolean {
  for (const item of headers.get("prefer")?.match(ITEM) ?? []) {
    const handling = HANDLING.exec(item);
    if (handling) return (handling[1] ?? handling[2] ?? "").toLowerCase() === "strict";
  }
  return false;
}
