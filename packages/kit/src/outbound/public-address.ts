/**
 * Restricts requests on behalf of callers, agents and documents to addresses of the public internet.
 * It uses Node alone, because the jailed shell of the local sandbox imports it, too.
 */
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** Public addresses that the cloud host serves itself: Azure's wire server. */
const HOST_SERVICES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The global unicast addresses of IPv6 (RFC 4291), and those reserved for documentation (RFC 9637). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
const DOCUMENTATION = ipaddr.IPv6.parseCIDR("3fff::/20");

/**
 * Returns whether `text`, an IPv4 or IPv6 address without brackets, is a public unicast address.
 * IPv6 addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are not, because where they
 * lead depends on the network.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  if (address instanceof ipaddr.IPv4) return !HOST_SERVICES.has(address.toString());
  return address.match(GLOBAL_UNICAST) && !address.match(DOCUMENTATION);
}

/** Returns whether a host is a literal address that is not public. @param host may have brackets */
export function isPrivateLiteral(host: string): boolean {
  const literal = host.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(literal) && !isPublicAddress(literal);
}

export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/**
 * Replaces `dns.lookup` when a socket connects. The socket connects to the checked addresses, so DNS
 * rebinding gains nothing. One address that is not public refuses the name. Sockets do not look up
 * literal addresses: callers must check them with `isPrivateLiteral`.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  const refuse = (error: Error) => callback(error, "", 0);
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = error ? undefined : addresses[0];
    if (error || !first) refuse(error ?? new AddressRefused("no address"));
    else if (!addresses.every((entry) => isPublicAddress(entry.address))) {
      refuse(new AddressRefused("not a public address"));
    } else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

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
