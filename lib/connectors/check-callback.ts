/** Where a person may be sent after connecting. Decisions, section 9. */
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** https, or http on this machine; without a user name, which only serves to look like another host. */
export function isSafeCallback(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOCAL_HOSTS.has(url.hostname));
}

/** @param allowed origins; an empty list allows all */
export function isAllowedOrigin(callbackUrl: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const { origin } = new URL(callbackUrl);
  return allowed.some((one) => URL.parse(one)?.origin === origin);
}
