import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { APICallError, NoOutputGeneratedError, RetryError, StreamProviderError } from "ai";
import { budgetRefusalIn, isBudgetRefusal } from "./models/budget-refusal.ts";

/** Providers' messages about a conversation that exceeds the model's context. */
const CONTEXT_TOO_LONG =
  /context[ _-]?(length|window|limit|size)|context_window|maximum context|(prompt|input|request)( is)? too (long|large)|too many (input )?tokens|input token count|maximum prompt length|range of input length|reduce the length|(decoder prompt|inputs?|prompt)\b.{0,80} (longer than|exceeds?) |prompt exceeds|must be (<=|less than) \d.{0,40}(tokens|inputs)|exceed\w* (the |model )*(token limit|limit of \d)|request_too_large|string_above_max_length/i;

/** Providers' messages about a request that they reject for another reason, whatever its size. */
const OTHER_CAUSE =
  /\b(images?|image_url|pdf|media|tools?|functions?|schema|tool_calls?|tool_use\w*|json|model_not_found|api.?key|billing|credits?|content.?(filter|policy|management)|safety|temperature)\b/i;
/** The forms in which they name the context window. */
const WINDOWS = [
  /with (\d[\d,_]{2,}) maximum context length/i,
  />\s*(\d[\d,_]{2,}) maximum/i,
  /(\d[\d,_]{2,}) maximum context length/i,
  /range of input length should be \[\d+, ?(\d[\d,_]{2,})\]/i,
  /must be <= (\d[\d,_]{2,})/i,
  /(?:context length|context window|context size|prompt length|number of tokens allowed)[^\d"{]{0,40}?(\d[\d,_]{2,})/i,
  /(?:limit|maximum|model length) of (\d[\d,_]{2,})/i,
  /token limit:? (\d[\d,_]{2,})/i,
];

export const saysTooLong = (text: string): boolean => CONTEXT_TOO_LONG.test(text);

/** How a request may say by its status that it is too long. An event of a stream may have none. */
const TOO_LONG_STATUSES = [400, 413, 422, 500];

const isRejection = (cause: unknown): cause is Error =>
  cause instanceof Error &&
  (TOO_LONG_STATUSES.includes(statusOf(cause)) ||
    (StreamProviderError.isInstance(cause) && Number.isNaN(statusOf(cause))));

/**
 * Returns whether a model has rejected a call because the conversation exceeds its context, and the windows
 * in tokens that the provider may mean: its other numbers look alike.
 */
export function tooLong(failure: unknown): { readonly windows: readonly number[] } | undefined {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  if (!isRejection(cause)) return undefined;
  const texts = textsOf(cause);
  if (!texts.some(saysTooLong)) return undefined;
  const named = WINDOWS.flatMap((form) => texts.map((text) => form.exec(text)?.[1]));
  const windows = named.flatMap((each) => (each ? [Number(each.replace(/[,_]/g, ""))] : []));
  return { windows: [...new Set(windows)] };
}

/**
 * Returns whether a model may have rejected a call because the conversation exceeds its context, in words that are
 * not known. The size of the request has to show it.
 */
export function mayBeTooLong(failure: unknown): boolean {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  return isRejection(cause) && !textsOf(cause).some((text) => OTHER_CAUSE.test(text));
}

const isInvalidCall = (cause: Error): boolean =>
  textsOf(cause).some((text) => /tool_use_failed|failed to call a function/i.test(text));

/** Returns whether a server has refused a call of a tool that its model has made, and may make well the next time. */
export function isFailedToolUse(failure: unknown): boolean {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  return isRejection(cause) && isInvalidCall(cause);
}

/**
 * Returns whether a call has failed because of its model, and another one may answer the same request: the
 * model is overloaded, rate limited, unreachable, not available, too slow or broken.
 */
export function isOutage(failure: unknown): boolean {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  // A call that was not made: its cost could not be reserved, or it has waited too long.
  if (isDatabaseUnavailable(cause) || isQueueRefusal(cause) || isBudgetRefusal(cause)) return false;
  if (isTimeout(cause)) return true;
  if (!(cause instanceof Error)) return false;
  if (isInvalidCall(cause)) return true;
  const status = statusOf(cause);
  // A stream that breaks has the status with which it started.
  if (status >= 400) return [404, 408, 429].includes(status) || status >= 500;
  return (
    isConnectionLoss(cause) ||
    StreamProviderError.isInstance(cause) ||
    NoOutputGeneratedError.isInstance(cause)
  );
}

/** Returns whether the connection has failed, and the same request may succeed. */
export const isConnectionLoss = (failure: unknown): boolean =>
  APICallError.isInstance(failure) ? failure.isRetryable : failure instanceof TypeError;

/** A longer wait for a model is worth less than the answer of another one. */
const MAX_RETRY_DELAY_MS = 5_000;
const RETRY_DELAY_MS = 1_000;

/**
 * Returns after how many milliseconds the model is called once more before its fallback is, or undefined
 * if that cannot help soon.
 */
export function retryDelayMs(failure: unknown): number | undefined {
  if (isTimeout(failure) || statusOf(failure) === 404) return undefined;
  const error = APICallError.isInstance(failure) ? failure : Object(failure).cause;
  const headers = APICallError.isInstance(error) ? error.responseHeaders : undefined;
  const after = headers?.["retry-after"] ?? "";
  const given = [
    Number.parseFloat(headers?.["retry-after-ms"] ?? ""),
    Number(after || Number.NaN) * 1_000,
    Date.parse(after) - Date.now(),
  ];
  const delay = given.find((ms) => !Number.isNaN(ms)) ?? RETRY_DELAY_MS;
  return delay <= MAX_RETRY_DELAY_MS ? Math.max(0, delay) : undefined;
}

/** Returns NaN for a failure without an HTTP status. */
const statusOf = (failure: unknown): number =>
  failure instanceof Error && "statusCode" in failure ? Number(failure.statusCode) : Number.NaN;

/**
 * Explains to the person in the chat why a model call failed and how to fix it. The text is always ours,
 * because a provider's message may contain secrets.
 */
export function describeFailure(failure: unknown): string {
  if (isQueueRefusal(failure)) return "Too many model calls are waiting: try again later";
  const refusal = budgetRefusalIn(failure);
  if (refusal) return refusal.message;
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  if (isTimeout(cause)) return "The model did not answer in time: try again";
  if (tooLong(cause)) {
    return "conversation_too_long: The newest message alone is too long for this model: shorten it, or choose a model with a larger context";
  }
  if (!(cause instanceof Error) || !("statusCode" in cause)) return "The model failed to answer";
  switch (cause.statusCode) {
    case 401:
    case 403:
      return "The model provider rejected this server's API key. Ask your administrator to check it.";
    case 402:
      return "The credit with the model provider is used up. Ask your administrator to add some.";
    case 404:
      return "The model is not available at its provider: choose another one";
    case 408:
    case 504:
      return "The model did not answer in time: try again";
    case 429:
      return "The model provider is rate limiting requests. Try again in a moment.";
    default:
      return "The model failed to answer";
  }
}

/** Returns whether a signal's deadline passed, or one of the HTTP client or of the connection. */
function isTimeout(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const code = "code" in cause ? cause.code : undefined;
  if (code === DOMException.TIMEOUT_ERR || /TIMEOUT|TIMEDOUT/.test(String(code))) return true;
  return isTimeout(cause.cause);
}

/** Returns the texts in a provider's error, at most 20,000 characters of each. */
const textsOf = (cause: Error): string[] => {
  const data = StreamProviderError.isInstance(cause) ? JSON.stringify(cause.data ?? "") : "";
  const body = APICallError.isInstance(cause) ? (cause.responseBody ?? "") : data;
  return [cause.message, body].map((text) => text.slice(0, 20_000));
};
