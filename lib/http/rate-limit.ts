/** Rate limits by address and by account. The database counts them for all servers. */
import ipaddr from "ipaddr.js";
import { type RateVerdict, rateHeaders } from "../contract/rate-limit.ts";
import { config } from "../platform/config.ts";
import { peerOf } from "./mark-peer.ts";

/**
 * Returns the bucket of an address limit: an IPv4 address, or the /64 prefix that one IPv6 customer
 * has. All loopback addresses share the bucket `loopback`, because a local process can choose among
 * millions of them, and all unknown addresses share `unknown`. None is exempt: sandboxes and proxies
 * on this machine call from loopback.
 */
export function addressOf(headers: Headers): string {
  const { VERCEL, TRUSTED_PROXIES: proxies = VERCEL ? 1 : 0 } = config();
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  const text = (proxies === 0 ? peerOf(headers) : hops.at(-proxies)?.trim()) ?? "";
  if (!ipaddr.isValid(text)) return "unknown";
  const address = ipaddr.process(text);
  if (address.range() === "loopback") return "loopback";
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

export function addRateHeaders(headers: Headers, verdict: RateVerdict): void {
  for (const [name, value] of Object.entries(rateHeaders(verdict))) headers.set(name, value);
}
