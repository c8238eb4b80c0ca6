/** Refuses a request beyond a rate limit: 429 with `retry-after`. */
import type { AppError } from "../../contract/app-error.ts";
import { tooManyRequests } from "../../contract/rate-limit.ts";
import type { Exchange } from "../exchange.ts";

export async function throttle({ rate }: Exchange): Promise<AppError | undefined> {
  return rate !== null && rate.retry_after !== null ? tooManyRequests(rate) : undefined;
}
