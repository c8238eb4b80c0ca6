import type { ErrorCode } from "../contract/app-error.ts";

/** When an endpoint answers with each error, for readers of the reference. What to do is in docs/guides/errors.md. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "A parameter or a field is missing or invalid. The message names it.",
  invalid_json: "The body is not valid JSON.",
  sandbox_missing: "The session has no sandbox yet.",
  unauthorized: "There is no credential, more than one, or one that is not valid.",
  budget_reached: "The account has spent its monthly budget.",
  unpriced_model:
    "The price of the model is not known, so it cannot count against the monthly budget.",
  forbidden: "The credential may not do this.",
  quota_exceeded: "The account has as many of these as it may have.",
  not_found: "It does not exist, or it belongs to another account.",
  method_not_allowed: "The path has no such method.",
  conflict: "The current state does not allow this, or somebody else has just changed it.",
  stream_active: "The chat is answering another message.",
  payload_too_large: "The body is larger than the endpoint takes.",
  range_not_satisfiable: "The range is outside of the file.",
  idempotency_mismatch: "The `Idempotency-Key` belongs to a request with another body.",
  rate_limited: "There are too many requests. `retry-after` says how many seconds to wait.",
  internal: "The service has failed unexpectedly.",
  not_implemented: "This installation does not offer it.",
  upstream_error: "A service behind the API has failed.",
  upstream_timeout: "A service behind the API has not answered in time.",
  not_configured: "The operator has not configured a service that this needs.",
  unavailable: "The service cannot answer at the moment, for example while its database is away.",
};
