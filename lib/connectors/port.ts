/** The port that every connector provider implements. */

import type { Checkable } from "../platform/outbound/probe.ts";
import type { Connection } from "./contract.ts";

/** `unknown`: the provider has no such connector. `cause` is for the log only. */
export interface ConnectorFault {
  readonly kind: "unknown" | "unavailable" | "timeout";
  readonly cause: string;
  /** The provider's `retry-after` header: seconds or a date (RFC 9110). */
  readonly retryAfter?: string | null;
}

export interface ConnectorProvider extends Checkable {
  readonly name: "composio" | "embedded";
  /** Starts a connection. The person completes it at `url` and is then redirected to `callbackUrl`. */
  authorize(request: {
    readonly accountId: string;
    readonly connector: string;
    readonly callbackUrl: string;
  }): Promise<{ readonly kind: "started"; readonly url: string } | ConnectorFault>;
  /** Lists only the account's own connections, newest first. */
  list(
    accountId: string,
  ): Promise<{ readonly kind: "listed"; readonly connections: Connection[] } | ConnectorFault>;
}
