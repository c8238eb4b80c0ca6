/**
 * Which addresses requests that callers, agents and documents ask for may connect to: those of the
 * public internet only. Plain Node, because the jailed shell of the local sandbox uses it, too.
 */
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** Public by number, yet answered by the cloud host: the wire server of Azure. */
const HOST_SERVICES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The global unicast addresses of IPv6 (RFC 4291), and what is documentation there (RFC 9637). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
const DOCUMENTATION = ipaddr.IPv6.parseCIDR("3fff::/20");

/**
 * Returns whether `text`, an IPv4 or IPv6 address without brackets, is a public unicast address.
 * IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are not: what they lead to
 * is not for us to work out.
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
 * Takes the place of `dns.lookup` when a socket connects: the addresses that are checked are the
 * very ones that are connected to, so a name that changes its answer in between gains nothing. One
 * address that is not public refuses the name. Literal addresses are never looked up: whoever uses
 * this checks them with `isPrivateLiteral`.
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
