import { appError } from "../../contract/app-error.ts";
import { rateHeaders, tooManyRequests } from "../../contract/rate-limit.ts";
import { config } from "../../platform/config.ts";
import { newKey } from "../keys/key-format.ts";
import { hashCode } from "./code.ts";
import { redeemCode, verdictOf } from "./store.ts";

/**
 * Exchanges a code for an account and its first key.
 * Errors: 400, 429. @param address the bucket of the caller's network address
 */
export async function verifyCode(email: string, code: string, address: string) {
  const key = newKey(config().API_KEY_SECRET);
  const answer = await redeemCode(email, hashCode(email, code), key, address);
  if (answer.outcome === "limited") return tooManyRequests(verdictOf(answer.rate));
  const headers = answer.rate ? rateHeaders(verdictOf(answer.rate)) : {};
  switch (answer.outcome) {
    case "wrong":
      return appError("invalid_request", "Invalid or expired verification code", { headers });
    case "dead":
      return appError("too_many_attempts", "Too many failed verification attempts", { headers });
    case "verified":
      return {
        body: { status: "success", account_id: answer.account_id, api_key: key.raw },
        headers,
      } as const;
  }
}
