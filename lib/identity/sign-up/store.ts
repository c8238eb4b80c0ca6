/** Sign-up codes in the database. Each change is one SQL function, so races have one winner. */
import { z } from "zod";
import { type RateVerdict, rate } from "../../contract/rate-limit.ts";
import { config } from "../../platform/config.ts";
import { call } from "../../platform/database/query.ts";
import type { NewKey } from "../keys/key-format.ts";

const counted = { rate: rate.nullable() };
const limited = z.object({ outcome: z.literal("limited"), rate });
const requested = z.discriminatedUnion("outcome", [
  limited,
  z.object({ outcome: z.enum(["mail", "silent"]), ...counted }),
]);
const verified = z.discriminatedUnion("outcome", [
  limited,
  z.object({ outcome: z.enum(["wrong", "dead"]), ...counted }),
  z.object({ outcome: z.literal("verified"), account_id: z.string(), ...counted }),
]);

/** Stores a new code; `silent` when the hourly limit of mails to the address is reached. */
export async function replaceCode(email: string, codeHash: string, address: string) {
  return call(
    "request_signup_code",
    { p_email: email, p_code_hash: codeHash, ...limitOf(address) },
    requested,
  );
}

/** Deletes a code that could not be sent, and takes its count back. */
export async function withdrawCode(
  email: string,
  codeHash: string,
  address: string,
): Promise<void> {
  const args = { p_email: email, p_code_hash: codeHash, p_address: address };
  await call("withdraw_signup_code", args, z.null());
}

/** Redeems the code and stores the key, or counts the failed try. */
export async function redeemCode(email: string, codeHash: string, key: NewKey, address: string) {
  const args = {
    p_email: email,
    p_code_hash: codeHash,
    p_key_name: "Sign-up",
    p_key_hash: key.hash,
    p_key_prefix: key.prefix,
  };
  return call("verify_signup_code", { ...args, ...limitOf(address) }, verified);
}

export const verdictOf = (taken: z.output<typeof rate>): RateVerdict => ({
  by: "address",
  ...taken,
});

const limitOf = (address: string) => ({
  p_address: address,
  p_address_limit: config().SIGNUP_RATE_LIMIT,
});
