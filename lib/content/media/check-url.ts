/** Which URLs of callers are gone to at all. Decisions, section 10: Media URLs from callers. */
import { isPublicAddress } from "../../agent/tools/public-address.ts";

/**
 * What is wrong with a URL as it stands, as the end of a sentence; null when nothing is. The same
 * rules hold for every redirect, and names are checked again by what they resolve to.
 */
export function faultOfUrl(url: URL, allowLoopback: boolean): string | null {
  if (url.username !== "" || url.password !== "") return "must not contain credentials";
  if (allowLoopback && isLoopback(url) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") return "must be an https URL";
  // A literal address is connected to without a look-up; by now it is in its one canonical form.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isLiteral = /^[\d.]+$|:/.test(host);
  return isLiteral && !isPublicAddress(host) ? "must have a public address" : null;
}

/** By its name alone: what else resolves to this machine is refused like any private address. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
