/**
 * Joins the contracts of this service to its use cases. The stages around a use case are in
 * packages/endpoint/src/pipeline.ts; `service` has the stages and records of this service.
 *
 *     GET: endpoint(getSessionContract, async ({ caller, params }) => { … })
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { createEndpoint } from "@platform/endpoint/endpoint";
import type { Exchange, Service } from "@platform/endpoint/exchange";
import { namedAccounts } from "@platform/endpoint/pipeline";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import type { Caller } from "../identity/credentials/caller.ts";
import {
  limitAnonymous,
  readCredential,
  resolveCaller,
} from "../identity/credentials/resolve-caller.ts";
import { isIdentityUnavailable } from "../identity/credentials/verify-bearer.ts";
import type { App } from "../parts.ts";
import { config } from "../platform/config.ts";
import { currentApp } from "../platform/current-app.ts";
import { addressOf } from "./address.ts";
import { beginAttempt } from "./begin-attempt.ts";
import { authorize, recordAnswerSources, refuseCaller, refuseSandbox } from "./guard-run.ts";

/**
 * Authenticates the caller and counts the request towards the rate limits, in one round trip that also
 * checks access to the accounts that the request names.
 * Refuses: 401 for no credential, two, or an invalid one; 403 for the credential of a run where the
 * contract does not allow it.
 */
async function identify(exchange: Exchange<Caller, App>): Promise<AppError | undefined> {
  const { app, plan, request } = exchange;
  const { contract } = plan;
  const { headers } = request;
  const address = addressOf(headers);
  if (contract.auth === "none") {
    const refused =
      contract.runCredential === undefined ? await refuseSandbox(exchange.app.db, headers) : null;
    if (refused) return refused;
    if (contract.addressLimit) exchange.rate = await limitAnonymous(exchange.app.db, address);
    return undefined;
  }
  const mayBeAnonymous = contract.auth === "optional" && config().ANONYMOUS_LOOKUPS;
  const credential = await readCredential(app, headers, mayBeAnonymous);
  if (isAppError(credential)) return credential;
  if (!credential) {
    exchange.rate = await limitAnonymous(exchange.app.db, address);
    return undefined;
  }
  const reads = contract.method === "GET";
  const named = await namedAccounts(exchange);
  const resolved = await resolveCaller(exchange.app.db, credential, named, address, reads);
  if (isAppError(resolved)) return resolved;
  if ("limited" in resolved) {
    exchange.rate = resolved.limited;
    return undefined;
  }
  Object.assign(exchange, resolved);
  return refuseCaller(contract, resolved.caller, headers) ?? undefined;
}

const credentials = { key: "api_key", bearer: "bearer", run: "run" } as const;

export const service: Service<Caller, App> = {
  identify,
  authorize,
  beginAttempt: ({ db }, caller, key, content) => beginAttempt(db, caller, key, content),
  recordAnswerSources,
  checksResponses: () => config().CHECK_RESPONSES,

  async runInSlot({ app, caller, request }, run) {
    return caller ? app.queues.requests.run(caller.ownerId, request.signal, run) : run();
  },

  failureOf(error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    if (!isDatabaseUnavailable(error) && !isIdentityUnavailable(error)) return null;
    return appError("unavailable", "Service temporarily unavailable", {
      headers: { "retry-after": "1" },
    });
  },

  /** Writes the entry in the account's log. */
  record({ app, plan, caller, requestId }, status, ms) {
    if (!caller || config().REQUEST_LOG_RETENTION_DAYS === 0) return;
    const { ownerId, credential } = caller;
    if (credential.kind === "schedule") return;
    app.requestLog.record({
      method: plan.contract.method,
      route: plan.contract.path,
      status,
      duration_ms: ms,
      account_id: ownerId,
      credential: credentials[credential.kind],
      api_key_id: credential.kind === "key" ? credential.keyId : null,
      request_id: requestId,
      created_at: new Date().toISOString(),
    });
  },
};

export const endpoint = createEndpoint(service, currentApp);
