/**
 * An error a caller may see, as a value: use cases return it, they never throw it.
 * A throw is a bug and becomes a 500 with a fixed text. Decisions, section 1.
 */
export type ErrorCode =
  | "invalid_request"
  | "invalid_json"
  | "unauthorized"
  | "forbidden"
  | "quota_exceeded"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "stream_active"
  | "sandbox_missing"
  | "payload_too_large"
  | "range_not_satisfiable"
  | "idempotency_mismatch"
  | "rate_limited"
  | "upstream_error"
  | "upstream_timeout"
  | "not_implemented"
  | "not_configured"
  | "unavailable"
  | "internal";

export interface AppError {
  readonly kind: "app-error";
  readonly code: ErrorCode;
  /** One sentence, safe to show to any caller. */
  readonly message: string;
  /** Dotted paths of the fields at fault, for the `missing` family. */
  readonly fields?: readonly string[];
  /** Headers a machine needs beyond the body, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function appError(
  code: ErrorCode,
  message: string,
  more: Pick<AppError, "fields" | "headers"> = {},
): AppError {
  return { kind: "app-error", code, message, ...more };
}

export function isAppError(value: unknown): value is AppError {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "app-error"
  );
}
