import type { QueueRefusal } from "@platform/kit/fair-queue";
import { type AppError, appError } from "./app-error.ts";

const RETRY_AFTER_SECONDS = "5";

/** Returns the error of a request that got no slot: 429 for a full queue, 503 for a timeout. */
export function queueRefused({ reason }: QueueRefusal): AppError {
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return reason === "full"
    ? appError("rate_limited", "Too many requests", { headers })
    : appError("unavailable", "Service temporarily unavailable", { headers });
}
