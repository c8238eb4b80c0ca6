/**
 * Errors that callers may see, as values: use cases return them and never throw them. A throw is a
 * defect and becomes a 500 with a fixed text.
 */
export type ErrorCode =
  | "invalid_request"
  | "invalid_json"
  | "unauthorized"
  | "forbidden"
  | "access_denied"
  | "not_owner"
  | "quota_exceeded"
  | "messages_full"
  | "chat_full"
  | "sandboxes_full"
  | "media_full"
  | "organization_full"
  | "budget_reached"
  | "unpriced_model"
  | "not_found"
  | "parent_not_found"
  | "method_not_allowed"
  | "conflict"
  | "stream_active"
  | "message_id_taken"
  | "message_differs"
  | "parent_differs"
  | "already_answered"
  | "idempotency_in_progress"
  | "sandbox_missing"
  | "payload_too_large"
  | "range_not_satisfiable"
  | "idempotency_mismatch"
  | "rate_limited"
  | "too_many_turns"
  | "queue_full"
  | "too_many_generations"
  | "too_many_attempts"
  | "too_many_invitations"
  | "upstream_error"
  | "upstream_timeout"
  | "not_implemented"
  | "not_configured"
  | "unavailable"
  | "internal";

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

export function isAppError(value: unknown): value is AppError {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "app-error"
  );
}
