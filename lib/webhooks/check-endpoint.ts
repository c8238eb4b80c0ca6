import { type AppError, invalidField } from "@platform/endpoint/contract/app-error";
import { faultOfUrl, isLoopback } from "@platform/kit/outbound/public-address";
import { allowsLoopback } from "../platform/config.ts";

/**
 * Returns the problem of an endpoint's URL; undefined when events may be sent to it. The connection also
 * checks the addresses that the host name resolves to, at each attempt.
 */
export function checkEndpoint(field: string, url: string): AppError | undefined {
  const fault = faultOfEndpoint(new URL(url));
  return fault === null ? undefined : invalidField(field, `${field} ${fault}`);
}

export function faultOfEndpoint(url: URL): string | null {
  const fault = faultOfUrl(url, allowsLoopback("webhooks"));
  if (fault !== null) return fault;
  const isLocal = isLoopback(url) || url.hostname.endsWith(".localhost");
  return isLocal && !allowsLoopback("webhooks") ? "must have a public address" : null;
}
