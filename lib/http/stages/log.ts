/** Writes one line for each request, and its entry in the account's log: never a body, a header or a credential. */
import { config } from "../../platform/config.ts";
import type { LoggedRequest } from "../../requests/contract.ts";
import { requestLog } from "../../requests/request-log.ts";
import type { Exchange } from "../exchange.ts";
import type { Answer } from "./respond.ts";

export async function log(exchange: Exchange, answer: () => Promise<Answer>): Promise<Response> {
  const started = performance.now();
  const { response, cause } = await answer();
  const { method, path: route } = exchange.plan.contract;
  const { status } = response;
  const ms = Math.round((performance.now() - started) * 100) / 100;
  record(exchange, { method, route, status, duration_ms: ms });
  const line = {
    method,
    route,
    status,
    ms,
    accountId: exchange.caller?.accountId,
    ...(cause instanceof Error ? { err: cause } : { error: cause }),
  };
  if (status >= 500) exchange.log.error(line, "request");
  else exchange.log.info(line, "request");
  return response;
}

const credentials = { key: "api_key", bearer: "bearer", run: "run" } as const;

function record(
  { caller, requestId }: Exchange,
  answered: Pick<LoggedRequest, "method" | "route" | "status" | "duration_ms">,
): void {
  if (caller === null || config().REQUEST_LOG_RETENTION_DAYS === 0) return;
  const { ownerId, credential } = caller;
  if (credential.kind === "schedule") return;
  requestLog().record({
    ...answered,
    account_id: ownerId,
    credential: credentials[credential.kind],
    api_key_id: credential.kind === "key" ? credential.keyId : null,
    request_id: requestId,
    created_at: new Date().toISOString(),
  });
}
