import { type AppError, invalidField } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { faultOfUrl, isLoopback } from "../platform/outbound/public-address.ts";

/**
 * Returns the problem of an endpoint's URL; undefined when events may be sent to it. The connection also
 * checks the addresses that the host name resolves to, at each attempt.
 */
export function checkEndpoint(field: string, url: string): AppError | undefined {
  const fault = faultOfEndpoint(new URL(url));
  return fault === null ? undefined : invalidField(field, `${field} ${fault}`);
}

export function faultOfEndpoint(url: URL): string | null {
  const fault = faultOfUrl(url, allowsLoopback());
  if (fault !== null) return fault;
  const isLocal = isLoopback(url) || url.hostname.endsWith(".localhost");
  return isLocal && !allowsLoopback() ? "must have a public address" : null;
}

export function allowsLoopback(): boolean {
  const { LOOPBACK_URLS, NODE_ENV } = config();
  return LOOPBACK_URLS.includes("webhooks") || NODE_ENV === "development";
}
