/** Makes responses of error values: one table of statuses, and one function for each family. */
import type { AppError, ErrorCode } from "../contract/app-error.ts";
import type { ErrorFamily } from "../contract/contract.ts";

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  invalid_json: 400,
  sandbox_missing: 400,
  unauthorized: 401,
  budget_reached: 402,
  unpriced_model: 402,
  forbidden: 403,
  access_denied: 403,
  not_owner: 403,
  quota_exceeded: 403,
  messages_full: 403,
  chat_full: 403,
  sandboxes_full: 403,
  media_full: 403,
  organization_full: 403,
  not_found: 404,
  parent_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  stream_active: 409,
  message_id_taken: 409,
  message_differs: 409,
  parent_differs: 409,
  already_answered: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  idempotency_mismatch: 422,
  rate_limited: 429,
  too_many_turns: 429,
  queue_full: 429,
  too_many_generations: 429,
  too_many_attempts: 429,
  too_many_invitations: 429,
  internal: 500,
  not_implemented: 501,
  upstream_error: 502,
  not_configured: 503,
  unavailable: 503,
  upstream_timeout: 504,
};

/** Codes of JSON-RPC 2.0, section 5.1. */
const rpcCodeOf: Partial<Record<ErrorCode, number>> = {
  invalid_json: -32700,
  invalid_request: -32600,
  internal: -32603,
};
const SERVER_ERROR = -32000;

const bodyOf: Readonly<Record<ErrorFamily, (error: AppError) => unknown>> = {
  message: ({ message, remedy }) => ({ status: "error", message, ...(remedy && { remedy }) }),
  error: (error) => ({ status: "error", error: error.message }),
  missing: (error) => ({
    status: "error",
    error: error.message,
    missing_fields: error.fields ?? [],
  }),
  plain: (error) => ({ error: error.message }),
  catalog: (error) => ({ error: { status: statusOf[error.code], message: error.message } }),
  // Refused before the message was read, so its id is unknown.
  rpc: ({ code, message }) => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: rpcCodeOf[code] ?? SERVER_ERROR, message },
  }),
};

/** Responds with an error, which is never cached and has its code in `x-error-code`. */
export function errorResponse(error: AppError, family: ErrorFamily): Response {
  const headers = new Headers(error.headers);
  headers.set("x-error-code", error.code);
  headers.set("cache-control", "no-store");
  if (error.code === "unauthorized" && !headers.has("www-authenticate")) {
    headers.set("www-authenticate", 'Bearer realm="api"');
  }
  return Response.json(bodyOf[family](error), { status: statusOf[error.code], headers });
}
