/**
 * What a tool gives back becomes part of the conversation: stored, streamed and sent to a model.
 * So it is made fit for PostgreSQL (no NUL, no half surrogate pairs), and the credentials that
 * commands have in their environment are taken out, should a command have printed them.
 */
import type { JSONValue } from "ai";

/** Shorter values would blank out ordinary words. */
const SHORTEST_SECRET = 12;

export function makeStorable(value: JSONValue, env: Readonly<Record<string, string>>): JSONValue {
  return mapTexts(value, cleaner(secretsOf(env)));
}

/** NUL and half surrogate pairs, which only ever stand in JSON as escapes. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/** The JSON text of what a model produced, fit for PostgreSQL and the same for every reader. */
export function storableJson(value: object): string {
  const text = JSON.stringify(value);
  // What was parsed from JSON is JSON.
  return UNSTORABLE.test(text) ? JSON.stringify(makeStorable(JSON.parse(text), {})) : text;
}

/** The header line of `AGENT_API_AUTH_HEADER`, and the bare credential in it. */
function secretsOf(env: Readonly<Record<string, string>>): string[] {
  const header = env.AGENT_API_AUTH_HEADER ?? "";
  const credential = header.replace(/^[^:]*:\s*(?:bearer\s+)?/i, "");
  return [header, credential].filter((secret) => secret.length >= SHORTEST_SECRET);
}

function cleaner(secrets: readonly string[]): (text: string) => string {
  return (text) => {
    let clean = text.replaceAll("\0", "\uFFFD").toWellFormed();
    for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]");
    return clean;
  };
}

function mapTexts(value: JSONValue, clean: (text: string) => string): JSONValue {
  if (typeof value === "string") return clean(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, clean));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      clean(key),
      inner === undefined ? inner : mapTexts(inner, clean),
    ]),
  );
}
