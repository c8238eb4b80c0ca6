/**
 * CSRF protection of the consent form: binds a decision to the browser that was shown the question. The
 * form contains an HMAC over the secret of the link and a cookie that no other site can read, set or
 * send. A forged form therefore cannot decide, not even about a link that the forger created.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { config } from "../../../../platform/config.ts";

const COOKIE = "connector_consent";
const PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** Returns the browser's id, which all its tabs share, or a new one. */
export function browserIdOf(headers: Headers): string {
  return readBrowserId(headers) ?? randomBytes(32).toString("base64url");
}

export function browserCookie(browserId: string, secure: boolean): string {
  const attributes = "Path=/connectors/consent; HttpOnly; SameSite=Strict; Max-Age=900";
  return `${COOKIE}=${browserId}; ${attributes}${secure ? "; Secure" : ""}`;
}

export function formToken(state: string, browserId: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`connector consent ${state} ${browserId}`)
    .digest("base64url");
}

/** Returns whether this service issued the token to this browser. */
export function isOwnForm(headers: Headers, state: string, token: string): boolean {
  const browserId = readBrowserId(headers);
  if (browserId === undefined) return false;
  const expected = Buffer.from(formToken(state, browserId));
  const actual = Buffer.from(token);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function readBrowserId(headers: Headers): string | undefined {
  for (const part of headers.get("cookie")?.split(";") ?? []) {
    const [name, value = ""] = part.trim().split("=");
    if (name === COOKIE && PATTERN.test(value)) return value;
  }
  return undefined;
}
