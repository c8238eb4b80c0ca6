/** The rate limit of callers without a credential, by address. */
import { type RateVerdict, rate } from "../../contract/rate-limit.ts";
import { config } from "../../platform/config.ts";
import { isRaised, rpc } from "../../platform/database/query.ts";

/** Counts a request. Resolves to the verdict, or to null when no limit is set. */
export async function limitAnonymous(address: string): Promise<RateVerdict | null> {
  const limit = config().ANONYMOUS_RATE_LIMIT;
  if (limit === 0) return null;
  const args = { p_bucket: `anonymous:${address}`, p_per_minute: limit };
  const taken = await rpc("take_from_bucket", args, rate);
  if (isRaised(taken)) throw new Error(`take_from_bucket: ${taken.message}`);
  return { by: "address", ...taken };
}
