/** What a rate limit said of a request, and how callers are told. */
import { z } from "zod";
import { type AppError, appError } from "./app-error.ts";

/** One request into a bucket that leaks `limit` a minute; times are in seconds. */
export const rate = z.object({
  limit: z.number(),
  remaining: z.number(),
  reset: z.number(),
  retry_after: z.number().nullable(),
});
export interface RateVerdict extends z.output<typeof rate> {
  readonly by: "account" | "address";
}

/** The fields of the IETF draft `draft-ietf-httpapi-ratelimit-headers`. */
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
