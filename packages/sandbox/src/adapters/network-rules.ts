/** Where the commands of sandboxes on this machine may connect to. */
import type { TurnPolicies } from "@platform/kit/network-policy";
import { hostRefusal, matchesHost } from "@platform/kit/outbound/network-policy";
import { isPrivateLiteral, lookupPublic } from "@platform/kit/outbound/public-address";
import { markedHeaders } from "../outgoing-headers.ts";

export interface NetworkRules {
  /** Hosts that commands may call: `example.com`, `example.com:8443`, `*.example.com`. */
  readonly allowedHosts: readonly string[];
  /** The network policies of the turn that runs the command, which narrow the allowed hosts. */
  readonly policies?: TurnPolicies | undefined;
  /** The service's own origin. Commands may call its `/api/`, even at a private address. */
  readonly serviceOrigin?: string | undefined;
}

/**
 * Throws unless the policies and the allowlist have the host, and it is not a literal private
 * address. `lookupPublic` checks the address that its name resolves to when the socket connects.
 */
export function checkHost(url: URL, { allowedHosts, policies = [] }: NetworkRules): void {
  const refusal = hostRefusal(policies, url.hostname);
  if (refusal !== null) throw new Error(refusal);
  if (!allowedHosts.some((host) => matchesHost(host, url.host))) {
    throw denied(url, "host is not on the allow-list");
  }
  if (isPrivateLiteral(url.hostname)) throw denied(url, "private address");
}

/**
 * Checks a request that leaves a sandbox, and returns its headers with the mark. Throws for a host that is
 * not allowed, and for a path of the service outside its public API, because others trust loopback calls.
 * @param origin by which the sandbox reaches the service
 */
export function admitRequest(
  url: URL,
  given: Headers,
  rules: NetworkRules,
  origin = rules.serviceOrigin,
) {
  const headers = markedHeaders(given);
  if (url.origin !== origin) {
    checkHost(url, rules);
    return { isOwn: false, headers, lookup: { lookup: lookupPublic } };
  }
  if (!url.pathname.startsWith("/api/")) throw denied(url, "only the service's /api/ is allowed");
  headers.set("forwarded", "for=_sandbox");
  return { isOwn: true, headers, lookup: {} };
}

export function denied(url: URL, why: string): Error {
  return new Error(`Network access denied: ${url.origin} (${why})`);
}
