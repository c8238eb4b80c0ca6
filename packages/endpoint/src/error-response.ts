/** Makes responses of error values, with one function for each family. */
import { type AppError, type ErrorCode, statusOf } from "./contract/app-error.ts";
import type { ErrorFamily } from "./contract/contract.ts";

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
