/** The verdict of a rate limit, and the headers and the error that report it. */
import { z } from "zod";
import { type AppError, appError } from "./app-error.ts";

/** The state of a leaky bucket of `limit` requests a minute after one request; times in seconds. */
export const rate = z.object({
  limit: z.number(),
  remaining: z.number(),
  reset: z.number(),
  retry_after: z.number().nullable(),
});
export interface RateVerdict extends z.output<typeof rate> {
  readonly by: "account" | "address";
}

/** Returns the headers of the IETF draft `draft-ietf-httpapi-ratelimit-headers`. */
export function rateHeaders({ by, limit, remaining, reset }: RateVerdict): Record<string, string> {
  return {
    ratelimit: `"${by}";r=${remaining};t=${reset}`,
    "ratelimit-policy": `"${by}";q=${limit};w=60`,
  };
}

export function tooManyRequests(verdict: RateVerdict): AppError {
  return appError("rate_limited", "Too many requests", {
    headers: { "retry-after": String(verdict.retry_after ?? 1), ...rateHeaders(verdict) },
  });
}
