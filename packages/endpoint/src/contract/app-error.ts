/**
 * Errors that callers may see, as values: use cases return them and never throw them. A throw is a
 * defect and becomes a 500 with a fixed text. The table has the status of each response.
 */
export const statusOf = {
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
  run_stopped: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
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
} as const satisfies Readonly<Record<string, number>>;
export type ErrorCode = keyof typeof statusOf;

export interface AppError {
  readonly kind: "app-error";
  readonly code: ErrorCode;
  /** One sentence that is safe to show to any caller. */
  readonly message: string;
  /** Dotted paths of the invalid fields, for the `missing` family. */
  readonly fields?: readonly string[];
  /** The remedy for the caller, in one sentence; sent by the `message` family. */
  readonly remedy?: string;
  /** Headers of the response, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function appError(
  code: ErrorCode,
  message: string,
  more: Pick<AppError, "fields" | "remedy" | "headers"> = {},
): AppError {
  return { kind: "app-error", code, message, ...more };
}

/** Returns the error of a request in which a field or a parameter is invalid. */
export const invalidField = (field: string, message: string): AppError =>
  appError("invalid_request", message, { fields: [field] });

export function isAppError(value: unknown): value is AppError {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "app-error"
  );
}
