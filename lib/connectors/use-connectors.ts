/** The use cases of connectors. Each answers `not_configured` where the service has none. */

import { type AppError, appError, invalidField } from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import type { z } from "zod";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { isAllowedOrigin } from "./check-callback.ts";
import type { createConnectionContract } from "./contract.ts";
import type { ConnectorFault, ConnectorProvider } from "./port.ts";
import {
  deleteConnectorTriggers,
  endEventCheck,
  hasChatConnector,
  takeEventCheck,
} from "./store.ts";

type Needs = Parts<"db" | "connectors">;

/**
 * Calls the provider, and returns its answer or the error that callers see for a fault, whose details are
 * logged. Errors: not_found, conflict, upstream_error, upstream_timeout, not_configured.
 */
export async function askProvider<A extends { readonly kind: string }, const R>(
  { connectors }: Needs,
  log: Logger,
  question: (provider: ConnectorProvider) => Promise<A | ConnectorFault>,
  describe: (answer: A) => R,
): Promise<R | AppError> {
  if (!connectors) return appError("not_configured", "Connectors are not configured");
  const answer = await question(connectors);
  return isFault(answer) ? describeFault(answer, log) : describe(answer);
}

const isFault = (answer: object): answer is ConnectorFault => "cause" in answer;

function describeFault(
  { kind, cause, message, retryAfter }: ConnectorFault,
  log: Logger,
): AppError {
  if (kind === "unknown") return appError("not_found", "Unknown connector");
  if (kind === "unknown_action") return appError("not_found", "Unknown action");
  if (kind === "not_connected") {
    return appError(
      "conflict",
      "The account has no active connection to this connector: connect it first",
    );
  }
  if (kind === "unknown_event") {
    return appError(
      "not_found",
      "Unknown event: GET /api/connectors/{connector}/events lists those of the connector",
    );
  }
  if (kind === "refused_config") {
    return invalidField("config", `The service refuses config: ${message}`);
  }
  log.warn({ outcome: kind, cause }, "The connector provider failed");
  if (kind === "timeout") {
    return appError("upstream_timeout", "Connector provider did not answer in time");
  }
  const headers = retryAfter ? { headers: { "retry-after": retryAfter } } : {};
  return appError("upstream_error", "Connector provider unavailable", headers);
}

const success = <const D>(data: D) => ({ body: { success: true, data } }) as const;

/**
 * Refuses the credential of a run for a connector that was not named for its chat. Injected text can make
 * an agent do anything, so it can reach a connection only if a person has allowed it. Errors: forbidden.
 */
async function checkRun(
  db: Database,
  { ownerId, credential }: Caller,
  connector: string,
): Promise<AppError | undefined> {
  if (credential.kind !== "run") return undefined;
  const isNamed = await hasChatConnector(db, ownerId, credential.run.chatId, connector);
  return isNamed ? undefined : appError("forbidden", "This credential cannot be used here");
}

/**
 * Starts a connection and returns the URL at which a person completes it. The pipeline has checked the
 * caller's access to the account. Errors: invalid_request, and as the provider's.
 */
export async function authorizeConnector(
  app: Needs,
  caller: Caller,
  { connector, callback_url: callbackUrl }: z.output<typeof createConnectionContract.body>,
  log: Logger,
) {
  const { CONNECTOR_CALLBACK_ORIGINS: origins } = config();
  // The console is the default callback, so it need not be listed.
  const allowed = origins.length === 0 ? origins : [...origins, serviceOrigin()];
  if (callbackUrl && !isAllowedOrigin(callbackUrl, allowed)) {
    return invalidField("callback_url", "callback_url must have one of the allowed origins");
  }
  const given = {
    accountId: caller.accountId,
    starter: { accountId: caller.ownerId, keyId: keyIdOf(caller) },
    connector,
    callbackUrl: callbackUrl ?? `${serviceOrigin()}/connectors`,
  };
  return askProvider(
    app,
    log,
    (provider) => provider.authorize(given),
    ({ url }) => success({ connector, redirectUrl: url }),
  );
}

/** Returns the connections of the account, newest first. */
export const listConnections = (app: Needs, accountId: string, log: Logger) =>
  askProvider(
    app,
    log,
    (provider) => provider.list(accountId),
    ({ connections }) => success({ connections }),
  );

/**
 * Removes the connections of the account to a connector, and its triggers at events of the connector first: no process
 * that dies leaves a trigger without its connection. Errors: not_found without a connection.
 */
export async function removeConnections(
  app: Needs,
  accountId: string,
  connector: string,
  log: Logger,
) {
  if (app.connectors) await deleteConnectorTriggers(app.db, accountId, connector);
  await endUnusedSubscriptions(app, accountId, log);
  return askProvider(
    app,
    log,
    (provider) => provider.disconnect({ accountId, connector }),
    ({ count }) =>
      count === 0
        ? appError("not_found", "The connector is not connected")
        : success({ connector, removed: count }),
  );
}

/** Returns a page of a connector's events. Errors: not_found. */
export const listEvents = (
  app: Needs,
  page: Parameters<ConnectorProvider["listEvents"]>[0],
  log: Logger,
) =>
  askProvider(
    app,
    log,
    (provider) => provider.listEvents(page),
    ({ events, nextCursor }) => success({ events, nextCursor }),
  );

/**
 * Ends the subscriptions of an account, which may be deleted, that none of its triggers uses, if triggers have changed
 * since the last time. The retention job does it where this fails, or a process has died before. Never throws.
 */
export async function endUnusedSubscriptions(
  { db, connectors }: Needs,
  accountId: string,
  log: Logger,
): Promise<boolean> {
  try {
    const check = await takeEventCheck(db, accountId);
    if (check === null) return false;
    const given = { accountId, keptIds: check.sourceIds };
    const ended = (await connectors?.unsubscribe(given)) ?? { kind: "unsubscribed" };
    if (isFault(ended)) log.warn(ended, "Subscriptions are left to the retention job");
    await endEventCheck(db, accountId, check, !isFault(ended));
    return !isFault(ended);
  } catch (error) {
    log.warn({ err: error }, "Subscriptions are left to the retention job");
    return false;
  }
}

/** Returns a page of a connector's actions. Errors: forbidden, not_found. */
export async function listActions(
  app: Needs,
  caller: Caller,
  page: Parameters<ConnectorProvider["listActions"]>[0],
  log: Logger,
) {
  const refused = await checkRun(app.db, caller, page.connector);
  if (refused) return refused;
  return askProvider(
    app,
    log,
    (provider) => provider.listActions(page),
    ({ actions, nextCursor }) => success({ actions, nextCursor }),
  );
}

/** Runs an action with the connection of the account that the caller acts for. Errors: forbidden, not_found, conflict. */
export async function runAction(
  app: Needs,
  caller: Caller,
  request: Omit<Parameters<ConnectorProvider["runAction"]>[0], "accountId">,
  log: Logger,
) {
  const refused = await checkRun(app.db, caller, request.connector);
  if (refused) return refused;
  return askProvider(
    app,
    log,
    (provider) => provider.runAction({ accountId: caller.accountId, ...request }),
    ({ result }) => success(result),
  );
}
