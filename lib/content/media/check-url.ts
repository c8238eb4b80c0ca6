/** Which URLs of callers are gone to at all. Decisions, section 10: Media URLs from callers. */
import { isPrivateLiteral } from "../../platform/outbound/public-address.ts";

/**
 * What is wrong with a URL as it stands, as the end of a sentence; null when nothing is. The same
 * rules hold for every redirect, and names are checked again by what they resolve to.
 */
export function faultOfUrl(url: URL, allowLoopback: boolean): string | null {
  if (url.username !== "" || url.password !== "") return "must not contain credentials";
  if (allowLoopback && isLoopback(url) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") return "must be an https URL";
  // Told here, before anything is fetched; the connection checks it again.
  return isPrivateLiteral(url.hostname) ? "must have a public address" : null;
}

/** By its name alone: what else resolves to this machine is refused like any private address. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
