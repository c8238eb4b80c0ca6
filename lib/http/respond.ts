/** The outer stages of every request: they see each outcome, refusals and throws included. */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { rateHeaders } from "@platform/endpoint/contract/rate-limit";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { startTimer } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import { isIdentityUnavailable } from "../identity/credentials/verify-bearer.ts";
import { config } from "../platform/config.ts";
import { errorResponse } from "./error-response.ts";
import type { Exchange } from "./exchange.ts";
import { IGNORED_FIELDS, listFields } from "./ignored-fields.ts";
import { withSharedHeaders } from "./shared-headers.ts";

/**
 * Measures each request, and makes it the first span of a trace. The trace of an incoming `traceparent`
 * is only linked: a caller that could name the trace would decide whether and where it is recorded.
 */
export function trace(
  { plan, request, requestId }: Exchange,
  answer: () => Promise<Response>,
): Promise<Response> {
  const { method, path } = plan.contract;
  const attributes = { "http.request.method": method, "http.route": path };
  const measure = startTimer("http.server.request.duration");
  return inSpan(
    `${method} ${path}`,
    {
      kind: "server",
      isRoot: true,
      linkTo: request.headers.get("traceparent"),
      attributes: { ...attributes, "app.request.id": requestId },
    },
    async (span) => {
      const response = await answer();
      const { status } = response;
      span.set({ "http.response.status_code": status });
      if (status >= 500) span.fail(String(status));
      measure({ ...attributes, "http.response.status_code": status });
      return response;
    },
  );
}

const credentials = { key: "api_key", bearer: "bearer", run: "run" } as const;

/** Writes one line for each request, and its entry in the account's log: never a body, a header or a credential. */
export async function log(exchange: Exchange, answer: () => Promise<Answer>): Promise<Response> {
  const started = performance.now();
  const { response, cause } = await answer();
  const { caller, requestId } = exchange;
  const { method, path: route } = exchange.plan.contract;
  const { status } = response;
  const ms = Math.round((performance.now() - started) * 100) / 100;
  const error = cause instanceof Error ? { err: cause } : { error: cause };
  const line = { method, route, status, ms, accountId: caller?.accountId, ...error };
  exchange.log[status >= 500 ? "error" : "info"](line, "request");
  if (!caller || config().REQUEST_LOG_RETENTION_DAYS === 0) return response;
  const { ownerId, credential } = caller;
  if (credential.kind === "schedule") return response;
  exchange.app.requestLog.record({
    method,
    route,
    status,
    duration_ms: ms,
    account_id: ownerId,
    credential: credentials[credential.kind],
    api_key_id: credential.kind === "key" ? credential.keyId : null,
    request_id: requestId,
    created_at: new Date().toISOString(),
  });
  return response;
}

interface Answer {
  readonly response: Response;
  /** The cause of an error, for the log; undefined for a success. */
  readonly cause: unknown;
}

/**
 * Turns every outcome into a response with the shared headers. An error has the shape of the endpoint's
 * family; a throw is an outage (503), a refused slot (429 or 503) or a defect (500 with a fixed text).
 */
export async function respond(
  exchange: Exchange,
  answer: () => Promise<AppError | Response>,
): Promise<Answer> {
  const { request, requestId } = exchange;
  const { contract } = exchange.plan;
  const { outcome, cause } = await answer().then(
    (result) => ({ outcome: result, cause: isAppError(result) ? result.message : undefined }),
    (error: unknown) => ({
      outcome: request.signal.aborted ? clientGone : failureOf(error),
      cause: error,
    }),
  );
  const made = isAppError(outcome) ? errorResponse(outcome, contract.family) : outcome;
  const response = withSharedHeaders(made, requestId, contract.auth !== "none");
  for (const [name, value] of Object.entries(exchange.rate ? rateHeaders(exchange.rate) : {})) {
    response.headers.set(name, value);
  }
  const { ignored } = exchange.input;
  if (ignored.length > 0) response.headers.set(IGNORED_FIELDS, listFields(ignored));
  return { response, cause };
}

const clientGone = appError("invalid_request", "The client closed the request");

function failureOf(error: unknown): AppError {
  if (isQueueRefusal(error)) return queueRefused(error);
  if (isDatabaseUnavailable(error) || isIdentityUnavailable(error)) {
    return appError("unavailable", "Service temporarily unavailable", {
      headers: { "retry-after": "1" },
    });
  }
  return appError("internal", "Internal server error");
}
