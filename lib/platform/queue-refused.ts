import { type AppError, appError } from "../contract/app-error.ts";
import type { QueueRefusal } from "./fair-queue.ts";

const RETRY_AFTER_SECONDS = "5";

/** The answer to a request whose account has used its share of what all accounts share: 429 or 503. */
export function queueRefused({ reason }: QueueRefusal): AppError {
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return reason === "full"
    ? appError("rate_limited", "Too many requests", { headers })
    : appError("unavailable", "Service temporarily unavailable", { headers });
}
