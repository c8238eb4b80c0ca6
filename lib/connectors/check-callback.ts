/** The rules for URLs to which a person is redirected after connecting. */
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Allows https, and http on this machine; no user name, which could make a URL look like another
 * host's.
 */
export function isSafeCallback(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOCAL_HOSTS.has(url.hostname));
}

/** @param allowed the allowed origins; an empty list allows every origin */
export function isAllowedOrigin(callbackUrl: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const { origin } = new URL(callbackUrl);
  return allowed.some((one) => URL.parse(one)?.origin === origin);
}
