/**
 * Ties a decision to the browser that was shown the question: the form carries an HMAC over the
 * link's secret and a cookie that no other site can read, set or send. A person who is lured to a
 * forged form cannot decide, not even about a link that the forger made.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { config } from "../../../../platform/config.ts";

const COOKIE = "connector_consent";
const PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** The browser's value, or a new one where it has none. One for all tabs. */
export function browserOf(headers: Headers): string {
  return readBrowser(headers) ?? randomBytes(32).toString("base64url");
}

export function cookieOf(browser: string, secure: boolean): string {
  const attributes = "Path=/connectors/consent; HttpOnly; SameSite=Strict; Max-Age=900";
  return `${COOKIE}=${browser}; ${attributes}${secure ? "; Secure" : ""}`;
}

export function formToken(state: string, browser: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`connector consent ${state} ${browser}`)
    .digest("base64url");
}

export function isOwnForm(headers: Headers, state: string, token: string): boolean {
  const browser = readBrowser(headers);
  if (browser === undefined) return false;
  const expected = Buffer.from(formToken(state, browser));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function readBrowser(headers: Headers): string | undefined {
  for (const part of headers.get("cookie")?.split(";") ?? []) {
    const [name, value = ""] = part.trim().split("=");
    if (name === COOKIE && PATTERN.test(value)) return value;
  }
  return undefined;
}
