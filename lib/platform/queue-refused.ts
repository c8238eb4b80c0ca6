import { type AppError, appError } from "../contract/app-error.ts";
import type { QueueRefusal } from "./fair-queue.ts";

const RETRY_AFTER_SECONDS = "5";

/** Returns the error of a request that got no slot: 429 for a full queue, 503 for a timeout. */
export function queueRefused({ reason }: QueueRefusal): AppError {
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return reason === "full"
    ? appError("rate_limited", "Too many requests", { headers })
    : appError("unavailable", "Service temporarily unavailable", { headers });
}
