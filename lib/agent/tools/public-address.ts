/** Which addresses the `fetch` tool may connect to: only those of the public internet. */
import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { Agent } from "undici";

/** Public by number, yet answered by the cloud host: the wire server of Azure. */
const HOST_SERVICES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** `text` is an IPv4 or IPv6 address, without brackets. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // IPv4 in IPv6 clothes counts as what it carries.
  const address = ipaddr.process(text);
  return address.range() === "unicast" && !HOST_SERVICES.has(address.toString());
}

export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * In place of `dns.lookup` when a socket connects: the addresses that are checked are the very
 * ones that are connected to, so a name that changes its answer in between gains nothing. One
 * address that is not public refuses the name.
 */
function lookupPublic(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const first = addresses?.[0];
    if (error || !first) {
      callback(error ?? new AddressRefused("no address"), []);
    } else if (!addresses.every((entry) => isPublicAddress(entry.address))) {
      callback(new AddressRefused("not a public address"), []);
    } else if (options.all) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
}

/** Connects to public addresses only. Literal addresses are not looked up: check those before. */
export const publicOnly = new Agent({ connect: { lookup: lookupPublic } });
