/** The outer stages of every request: they see each outcome, refusals and throws included. */

import { startTimer } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import { type AppError, appError, isAppError } from "./contract/app-error.ts";
import { rateHeaders } from "./contract/rate-limit.ts";
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

/** Writes one line for each request, and lets the service record it: never a body, a header or a credential. */
export async function log(exchange: Exchange, answer: () => Promise<Answer>): Promise<Response> {
  const started = performance.now();
  const { response, cause } = await answer();
  const { service, caller } = exchange;
  const { method, path: route } = exchange.plan.contract;
  const { status } = response;
  const ms = Math.round((performance.now() - started) * 100) / 100;
  const error = cause instanceof Error ? { err: cause } : { error: cause };
  const line = { method, route, status, ms, accountId: caller?.accountId, ...error };
  exchange.log[status >= 500 ? "error" : "info"](line, "request");
  service.record(exchange, status, ms);
  return response;
}

interface Answer {
  readonly response: Response;
  /** The cause of an error, for the log; undefined for a success. */
  readonly cause: unknown;
}

/**
 * Turns every outcome into a response with the shared headers. An error has the shape of the endpoint's
 * family; a throw is a failure that the service knows, such as an outage, or a defect (500 with a fixed text).
 */
export async function respond(
  exchange: Exchange,
  answer: () => Promise<AppError | Response>,
): Promise<Answer> {
  const { service, request, requestId } = exchange;
  const { contract } = exchange.plan;
  const { outcome, cause } = await answer().then(
    (result) => ({ outcome: result, cause: isAppError(result) ? result.message : undefined }),
    (error: unknown) => ({
      outcome: request.signal.aborted ? clientGone : (service.failureOf(error) ?? defect),
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
const defect = appError("internal", "Internal server error");
