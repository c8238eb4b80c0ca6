export const unreachable = "The service cannot be reached. Check your connection and try again.";

interface FailedResponse {
  readonly status: number;
  /** The value of `x-error-code`; empty when the response has none, as from a proxy. */
  readonly code: string;
  /** The value of `retry-after`, in seconds. */
  readonly retryAfter?: string | null;
}

const TEXTS: Readonly<Record<string, string>> = {
  invalid_request: "Some of this is not valid. Check it and try again.",
  unauthorized: "Your session has expired. Sign in again.",
  forbidden: "You do not have permission to do this.",
  budget_reached: "Your monthly budget is spent. Raise it, or wait for the next month.",
  unpriced_model:
    "The price of this model is not known, so your budget cannot count it. Choose another model, or allow unpriced models with your budget.",
  quota_exceeded: "You have as many of these as you can have. Delete one and try again.",
  messages_full: "Your storage is full. Delete chats that you no longer need and try again.",
  chat_full: "This chat is full. Start a new one.",
  sandboxes_full: "Your storage is full. Delete files that you no longer need and try again.",
  media_full:
    "Your storage is full. Delete images and videos that you no longer need and try again.",
  organization_full: "This organization has as many members as it can have.",
  not_found: "This no longer exists, or you do not have access to it.",
  conflict: "This conflicts with another request. Wait a moment, then try again.",
  stream_active: "The agent is already answering in this chat. Your message was not sent.",
  already_answered: "This question has been answered already, maybe in another tab.",
  run_stopped: "This run was stopped, because its access has ended. Start it again.",
  payload_too_large: "This is too long. Shorten it and try again.",
  rate_limited: "Too many requests.",
  too_many_turns: "Too many chats are being answered at once. Wait for one to end, or stop one.",
  queue_full:
    "Too many messages are waiting in this chat. Wait for one to be answered, or stop the chat.",
  too_many_generations: "Too many images and videos are being made at once.",
  upstream_error: "A service that this depends on failed. Try again in a moment.",
  upstream_timeout: "A service that this depends on did not respond in time. Try again.",
  not_implemented: "This is not available on this server.",
  not_configured: "This is not set up on this server.",
  unavailable: "The service is temporarily unavailable. Try again in a moment.",
  internal: "Something went wrong. Try again.",
  sandbox_missing: "The files of this chat are not ready. Send the message again.",
};

/** How turns fail whose error starts with a code. Other errors of turns are written for people by the service. */
const TURN_TEXTS: Readonly<Record<string, string>> = {
  conversation_too_long:
    "The newest message alone is too long for this model. Shorten it, or try a model with a larger context.",
  output_invalid: "The agent has stopped without a valid result. Try again.",
  max_cost_usd: "This answer has reached its cost limit. The work until then is kept.",
  max_steps: "This answer has reached its limit of steps. The work until then is kept.",
  max_duration_s: "This answer has reached its time limit. The work until then is kept.",
};

/** Describes the error of a turn, `code: text` or a failure of the model without a code, and what helps. */
export function describeTurnError(error: string) {
  const [, code = "", rest = error] = /^([a-z_]+): (.*)$/s.exec(error) ?? [];
  const isOfBudget = code === "budget_reached" || code === "unpriced_model";
  const isTooLong = code === "conversation_too_long";
  return {
    text:
      TURN_TEXTS[code === "limit_reached" ? rest : code] ??
      TEXTS[code] ??
      rest.replace(/\.?$/, "."),
    isOfBudget,
    canRetry: !isOfBudget && !isTooLong,
    suggestsModel: code === "" || code === "unpriced_model" || isTooLong,
  };
}

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  413: "payload_too_large",
  429: "rate_limited",
  502: "unavailable",
  503: "unavailable",
  504: "upstream_timeout",
};

/**
 * Returns the text that a page shows for a failed request. Pages never show the API's own messages,
 * which are written for developers.
 */
export function describeError({ status, code, retryAfter = null }: FailedResponse): string {
  const text =
    TEXTS[code] ?? TEXTS[CODE_OF_STATUS[status] ?? ""] ?? "Something went wrong. Try again.";
  if (status !== 429) return text;
  return retryAfter !== null && /^\d+$/.test(retryAfter)
    ? `${text} Try again in ${retryAfter} s.`
    : `${text} Wait a moment, then try again.`;
}
