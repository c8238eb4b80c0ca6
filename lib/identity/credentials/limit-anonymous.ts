/** The rate limits of callers without a credential, by address. */
import { type RateVerdict, rate } from "../../contract/rate-limit.ts";
import { config } from "../../platform/config.ts";
import { isRaised, rpc } from "../../platform/database/query.ts";

/** A person who uses the console opens more pages than a stranger asks the catalog. */
const PAGES_FACTOR = 5;

/** Counts a request. Resolves to the verdict, or to null when no limit is set. */
export const limitAnonymous = (address: string): Promise<RateVerdict | null> =>
  take(`anonymous:${address}`, config().ANONYMOUS_RATE_LIMIT);

/** Counts a request for a page of the console, whose sender is unknown. Resolves like `limitAnonymous`. */
export const limitPages = (address: string): Promise<RateVerdict | null> =>
  take(`pages:${address}`, config().ANONYMOUS_RATE_LIMIT * PAGES_FACTOR);

async function take(bucket: string, limit: number): Promise<RateVerdict | null> {
  if (limit === 0) return null;
  const args = { p_bucket: bucket, p_per_minute: limit };
  const taken = await rpc("take_from_bucket", args, rate);
  if (isRaised(taken)) throw new Error(`take_from_bucket: ${taken.message}`);
  return { by: "address", ...taken };
}
