/**
 * The result of a tool becomes part of the conversation: it is stored, streamed and sent to a
 * model. Therefore NUL and lone surrogates, which PostgreSQL rejects, are replaced, and the
 * credentials in the environment of commands are redacted, in case a command has printed them.
 */
import type { JSONValue } from "ai";

/** Shorter values could be ordinary words. */
const MIN_SECRET_CHARS = 12;

export function makeStorable(value: JSONValue, env: Readonly<Record<string, string>>): JSONValue {
  return mapTexts(value, cleaner(secretsOf(env)));
}

/**
 * Returns the newest part of a text that still grows, as `makeStorable` would. A credential that is cut at its start
 * or is yet to be completed is left out.
 * @param isCut whether the text has lost its start
 */
export function storableTail(
  text: string,
  isCut: boolean,
  env: Readonly<Record<string, string>>,
  maxChars: number,
): string {
  const secrets = secretsOf(env);
  const clean = cleaner(secrets)(text);
  const lengths = secrets.flatMap((secret) =>
    Array.from({ length: secret.length }, (_, place) => place + 1).filter((length) =>
      clean.endsWith(secret.slice(0, length)),
    ),
  );
  const whole = clean.slice(0, clean.length - Math.max(0, ...lengths));
  const cut = isCut ? Math.max(0, ...secrets.map(({ length }) => length)) : 0;
  return whole.slice(cut).slice(-maxChars).toWellFormed();
}

/** NUL and lone surrogates, which occur in JSON only as escapes. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/** Returns a value that a model has produced as a JSON text that PostgreSQL accepts. */
export function storableJson(value: object): string {
  const text = JSON.stringify(value);
  return UNSTORABLE.test(text) ? JSON.stringify(makeStorable(JSON.parse(text), {})) : text;
}

/**
 * Returns a JSON value with its keys in the order in which PostgreSQL returns them. Requests from
 * memory and from the database are then identical, which providers' caches require.
 */
export function inStoredOrder<T>(value: T): T {
  const byLength = ([a]: [string, unknown], [b]: [string, unknown]) =>
    Buffer.byteLength(a) - Buffer.byteLength(b) || (a < b ? -1 : 1);
  const root: Record<string, unknown> = { value };
  // Without recursion, because a model may nest its input deeply.
  const holders: Record<string, unknown>[] = [root];
  for (let holder = holders.pop(); holder; holder = holders.pop()) {
    for (const [key, inner] of Object.entries(holder)) {
      if (typeof inner !== "object" || inner === null) continue;
      const ordered = Array.isArray(inner)
        ? [...inner]
        : Object.fromEntries(Object.entries(inner).sort(byLength));
      holder[key] = ordered;
      holders.push(ordered as Record<string, unknown>);
    }
  }
  return root.value as T;
}

/** Returns the header line in `AGENT_API_AUTH_HEADER`, and the bare credential in it. */
function secretsOf(env: Readonly<Record<string, string>>): string[] {
  const header = env.AGENT_API_AUTH_HEADER ?? "";
  const credential = header.replace(/^[^:]*:\s*(?:bearer\s+)?/i, "");
  return [header, credential].filter((secret) => secret.length >= MIN_SECRET_CHARS);
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
