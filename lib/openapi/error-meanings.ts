import type { ErrorCode } from "../contract/app-error.ts";

/**
 * When an endpoint answers with each error, for readers of the reference. docs/guides/errors.md has the
 * remedies.
 */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "A parameter or a field is missing or invalid. The message names it.",
  invalid_json: "The body is not valid JSON.",
  sandbox_missing: "The session has no sandbox yet.",
  unauthorized: "There is no credential, more than one, or one that is not valid.",
  budget_reached: "The account has spent its monthly budget.",
  unpriced_model:
    "The price of the model is not known, so it cannot count against the monthly budget.",
  forbidden: "The credential may not do this.",
  access_denied: "The account has no access to the account or organization that the request names.",
  not_owner: "Only an owner may do this.",
  quota_exceeded: "The account has as many of these as it may have.",
  messages_full: "The account has no room for more messages.",
  chat_full: "The chat has no room for more messages.",
  sandboxes_full: "The account has no room for more files in its sandboxes.",
  media_full: "The account has no room for more images and videos.",
  organization_full: "The organization has as many members as it may have.",
  not_found: "It does not exist, or it belongs to another account.",
  parent_not_found: "`parentId` is not a message of the chat.",
  method_not_allowed: "The path has no such method.",
  conflict: "The current state does not allow this, or somebody else has just changed it.",
  stream_active: "The chat is answering another message.",
  message_id_taken: "The id of the message belongs to an answer of the chat.",
  message_differs: "A message with this id and other content is stored.",
  parent_differs: "The message is stored after another one than `parentId`.",
  already_answered: "The question has been answered already.",
  idempotency_in_progress: "A request with this `Idempotency-Key` is still running.",
  payload_too_large: "The body is larger than the endpoint takes.",
  range_not_satisfiable: "The range is outside of the file.",
  idempotency_mismatch: "The `Idempotency-Key` belongs to a request with another body.",
  rate_limited: "There are too many requests. `retry-after` says how many seconds to wait.",
  too_many_turns: "The account has as many active turns as it may have.",
  queue_full: "As many messages wait in the chat as may wait.",
  too_many_generations: "The account has as many images and videos in the making as it may have.",
  too_many_attempts: "The verification code was guessed wrong too often.",
  too_many_invitations: "The organization has sent too many invitations within an hour.",
  internal: "The service has failed unexpectedly.",
  not_implemented: "This installation does not offer it.",
  upstream_error: "A service behind the API has failed.",
  upstream_timeout: "A service behind the API has not answered in time.",
  not_configured: "The operator has not configured a service that this needs.",
  unavailable: "The service cannot answer at the moment, for example while its database is away.",
};
