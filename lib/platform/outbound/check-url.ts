/** The rules for URLs that callers give: of media and of webhooks. */
import { isPrivateLiteral } from "./public-address.ts";

/**
 * Returns the problem of a URL, as the end of a sentence that starts with the field's name; null when it
 * is allowed. The same rules apply to every redirect. The connection also checks the addresses that the
 * host name resolves to.
 */
export function faultOfUrl(url: URL, allowLoopback: boolean): string | null {
  if (url.username !== "" || url.password !== "") return "must not contain credentials";
  if (allowLoopback && isLoopback(url) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") return "must be an https URL";
  // Refused before anything is fetched; the connection checks the address again.
  return isPrivateLiteral(url.hostname) ? "must have a public address" : null;
}

/** Judges by the host name alone: other names that resolve to this machine count as private. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
