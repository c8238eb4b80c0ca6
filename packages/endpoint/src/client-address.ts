/** The sender of a request: its network address, and a page that makes it in a person's browser. */
import ipaddr from "ipaddr.js";

/** Has the address of the TCP peer, because Next passes on the client's own `x-forwarded-for`. */
export const PEER_HEADER = "x-peer-address";

/**
 * Returns the bucket of an address limit: an IPv4 address, or the /64 prefix that one IPv6 customer
 * has. All loopback addresses share the bucket `loopback`, because a local process can choose among
 * millions of them, and all unknown addresses share `unknown`. None is exempt: sandboxes and proxies
 * on this machine call from loopback.
 * @param proxies before the server that append to `x-forwarded-for`
 */
export function clientAddress(headers: Headers, proxies: number): string {
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  const text = (proxies === 0 ? headers.get(PEER_HEADER) : hops.at(-proxies)?.trim()) ?? "";
  if (!ipaddr.isValid(text)) return "unknown";
  const address = ipaddr.process(text);
  if (address.range() === "loopback") return "loopback";
  if (address instanceof ipaddr.IPv4) return address.toString();
  const prefix = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(":")}::/64`;
}

/**
 * Returns whether the peer is this machine; false where the peer is unknown: on Vercel, which has no
 * server of ours, and after a hang-up.
 */
export function isFromThisMachine(headers: Headers): boolean {
  const peer = headers.get(PEER_HEADER) ?? "";
  return ipaddr.isValid(peer) && ipaddr.process(peer).range() === "loopback";
}

/**
 * Returns whether a page of another origin sends the request. without the person. Programs that are no browsers
 * send neither header.
 * @param ownOrigin of the service
 */
export function isFromForeignPage(headers: Headers, ownOrigin: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null || origin === ownOrigin) return false;
  // The console under another name of this machine.
  return URL.parse(origin)?.host !== headers.get("host");
}
