/** The port that every connector provider implements. */

import type { Checkable } from "@platform/kit/outbound/probe";
import type { Connection, ConnectorAction, ConnectorEvent } from "./contract.ts";

/**
 * `unknown`: the provider has no such connector. `unknown_action` and `unknown_event`: the connector has none of that
 * name. `not_connected`: the account has no active connection. `refused_config`: an event cannot be had with this
 * config. `cause` is for the log only.
 */
export interface ConnectorFault {
  readonly kind:
    | "unknown"
    | "unknown_action"
    | "unknown_event"
    | "not_connected"
    | "refused_config"
    | "unavailable"
    | "timeout";
  readonly cause: string;
  /** The provider's bounded words about a config. */
  readonly message?: string;
  /** The provider's `retry-after` header: seconds or a date (RFC 9110). */
  readonly retryAfter?: string | null;
  /** The provider's status, where it has refused. */
  readonly status?: number;
}

interface ActionResult {
  /** False when the service has refused the action. */
  readonly successful: boolean;
  readonly output: unknown;
  /** The service's message about a refusal. */
  readonly error: string | null;
}

/** Whose right to act for the account a connection needs until it is completed. */
export interface ConnectionStarter {
  /** The account of the credential. */
  readonly accountId: string;
  /** Null for a bearer. */
  readonly keyId: string | null;
}

export interface ConnectorProvider extends Checkable {
  readonly name: "composio" | "embedded";
  /** Whether events reach this service. */
  readonly receivesEvents: boolean;
  /**
   * Starts a connection. The person completes it at `url` and is then redirected to `callbackUrl`. One
   * that is completed after its starter has lost the right cannot be used.
   */
  authorize(request: {
    readonly accountId: string;
    readonly starter: ConnectionStarter;
    readonly connector: string;
    readonly callbackUrl: string;
  }): Promise<{ readonly kind: "started"; readonly url: string } | ConnectorFault>;
  /** Lists only the account's own connections, newest first. */
  list(
    accountId: string,
  ): Promise<{ readonly kind: "listed"; readonly connections: Connection[] } | ConnectorFault>;
  /** Ends all connections of the account to the connector, whatever their status. A repetition continues where a failed one ended. */
  disconnect(request: {
    readonly accountId: string;
    readonly connector: string;
  }): Promise<{ readonly kind: "disconnected"; readonly count: number } | ConnectorFault>;
  /** Lists a page of the connector's actions. */
  listActions(request: {
    readonly connector: string;
    readonly limit: number;
    readonly cursor: string | undefined;
  }): Promise<
    | {
        readonly kind: "actions";
        readonly actions: ConnectorAction[];
        readonly nextCursor: string | null;
      }
    | ConnectorFault
  >;
  /** Describes one action of the connector. */
  describeAction(request: { readonly connector: string; readonly action: string }): Promise<
    | {
        readonly kind: "action";
        /** Whether it may delete or overwrite something, or the provider does not say. */
        readonly isDestructive: boolean;
      }
    | ConnectorFault
  >;
  /** Lists a page of the connector's events. */
  listEvents(request: {
    readonly connector: string;
    readonly limit: number;
    readonly cursor: string | undefined;
  }): Promise<
    | {
        readonly kind: "events";
        readonly events: ConnectorEvent[];
        readonly nextCursor: string | null;
      }
    | ConnectorFault
  >;
  /** Subscribes to an event of the account's active connection. Returns the same id for an equal subscription. */
  subscribe(request: {
    readonly accountId: string;
    readonly connector: string;
    readonly event: string;
    readonly config: Readonly<Record<string, unknown>>;
  }): Promise<{ readonly kind: "subscribed"; readonly id: string } | ConnectorFault>;
  /** Ends all subscriptions of an account, which may be deleted, but these. It can be repeated. */
  unsubscribe(request: {
    readonly accountId: string;
    readonly keptIds: readonly string[];
  }): Promise<{ readonly kind: "unsubscribed" } | ConnectorFault>;
  /** Runs an action of the connector with the account's active connection, at most once. */
  runAction(request: {
    readonly accountId: string;
    readonly connector: string;
    readonly action: string;
    readonly input: Readonly<Record<string, unknown>>;
  }): Promise<{ readonly kind: "ran"; readonly result: ActionResult } | ConnectorFault>;
}
