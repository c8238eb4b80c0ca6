import { APICallError, NoOutputGeneratedError, RetryError, StreamProviderError } from "ai";
import { isDatabaseUnavailable } from "../platform/database/unavailable.ts";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { budgetRefusalIn, isBudgetRefusal } from "./models/budget-refusal.ts";

/** What providers say of a conversation that exceeds the model's context, with a 400, 413 or 422. */
const CONTEXT_TOO_LONG =
  /context[ _-]?(length|window|limit|size)|maximum context|(prompt|input|request)( is)? too (long|large)|too many (input )?tokens|input token count|maximum prompt length|reduce the length|exceed\w* (the |model )*(token limit|limit of \d)|request_too_large/i;
export const saysTooLong = (text: string): boolean => CONTEXT_TOO_LONG.test(text);

/** The forms in which they name the context window. */
const WINDOWS = [
  /(?:context length|context window|context size|prompt length|number of tokens allowed)\D{0,40}?(\d[\d,_]{2,})/i,
  />\s*(\d[\d,_]{2,}) maximum/i,
  /(\d[\d,_]{2,}) maximum context length/i,
  /(?:limit|maximum) of (\d[\d,_]{2,})/i,
];

/**
 * Returns whether a model has rejected a call because the conversation exceeds its context, and the window
 * in tokens if the provider names it.
 */
export function tooLong(failure: unknown): { readonly window: number | null } | undefined {
  const cause = RetryError.isInstance(failure) ? failure.lastError : failure;
  if (!(cause instanceof Error) || !("statusCode" in cause)) return undefined;
  if (![400, 413, 422].includes(Number(cause.statusCode))) return undefined;
  const text = textOf(cause);
  if (!CONTEXT_TOO_LONG.test(text)) return undefined;
  const named = WINDOWS.map((form) => form.exec(text)?.[1]).find(Boolean);
  return { window: named === undefined ? null : Number(named.replace(/[,_]/g, "")) };
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
    case 400:
    case 413:
    case 422:
      return tooLong(cause)
        ? "conversation_too_long: The newest message alone is too long for this model: shorten it, or choose a model with a larger context"
        : "The model failed to answer";
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

const textOf = (cause: Error): string =>
  APICallError.isInstance(cause) ? `${cause.message} ${cause.responseBody ?? ""}` : cause.message;
