/** The port that every provider of connections implements. Decisions, section 9. */
import type { Connection } from "./contract.ts";

/** `unknown`: the provider has no such connector. `cause` is for the log, never for a caller. */
export interface ConnectorFault {
  readonly kind: "unknown" | "unavailable" | "timeout";
  readonly cause: string;
  /** When it may be asked again, as the provider says: seconds or a date (RFC 9110). */
  readonly retryAfter?: string | null;
}

export interface ConnectorProvider {
  readonly name: "composio" | "embedded";
  /** Begins a connection; the person finishes it at `url` and is then sent to `callbackUrl`. */
  authorize(asked: {
    readonly accountId: string;
    readonly connector: string;
    readonly callbackUrl: string;
  }): Promise<{ readonly kind: "started"; readonly url: string } | ConnectorFault>;
  /** The account's connections and nobody else's, newest first. */
  list(
    accountId: string,
  ): Promise<{ readonly kind: "listed"; readonly connections: Connection[] } | ConnectorFault>;
}
