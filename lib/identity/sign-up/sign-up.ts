/** Sign-up by a code that is mailed. Each change in the database is one SQL function, so races have one winner. */

import { createHmac, randomInt } from "node:crypto";
import { appError } from "@platform/endpoint/contract/app-error";
import {
  type RateVerdict,
  rate,
  rateHeaders,
  tooManyRequests,
} from "@platform/endpoint/contract/rate-limit";
import type { Logger } from "pino";
import { z } from "zod";
import type { Parts } from "../../parts.ts";
import { config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { newKey } from "../keys/key-format.ts";

const counted = { rate: rate.nullable() };
const limited = z.object({ outcome: z.literal("limited"), rate });
const requested = z.discriminatedUnion("outcome", [
  limited,
  // `silent` when the hourly limit of mails to the address is reached.
  z.object({ outcome: z.enum(["mail", "silent"]), ...counted }),
]);
const verified = z.discriminatedUnion("outcome", [
  limited,
  z.object({ outcome: z.enum(["wrong", "dead"]), ...counted }),
  z.object({ outcome: z.literal("verified"), account_id: z.string(), ...counted }),
]);

/** The arguments of a code; its hash depends on the address. */
function codeArguments(email: string, code: string) {
  const hmac = createHmac("sha256", config().API_KEY_SECRET);
  return { email, codeHash: hmac.update(`signup code ${code} ${email}`).digest("hex") };
}

const limitArguments = (address: string) => ({ address, addressLimit: config().SIGNUP_RATE_LIMIT });

const verdictOf = (taken: z.output<typeof rate>): RateVerdict => ({ by: "address", ...taken });

/**
 * Sends a code to an e-mail address. The response reveals nothing about the address.
 * Errors: 429, 502, 504. @param address the bucket of the caller's network address
 */
export async function requestCode(
  { db, mail }: Parts<"db" | "mail">,
  email: string,
  address: string,
  log: Logger,
) {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const given = codeArguments(email, code);
  const asked = { ...given, ...limitArguments(address) };
  const answer = await call(db, "request_signup_code", asked, requested);
  if (answer.outcome === "limited") return tooManyRequests(verdictOf(answer.rate));
  if (answer.outcome === "mail") {
    const { name, send } = mail;
    const sent = await send({ to: email, subject: `Your code is ${code}`, text: letter(code) });
    if (sent.kind !== "sent") {
      log.warn({ mailer: name, outcome: sent.kind, cause: sent.cause }, "mail");
    }
    if (sent.kind === "unavailable" || sent.kind === "timeout") {
      // Deletes the code, and takes its count back.
      await call(db, "withdraw_signup_code", { ...given, address });
      const kind = sent.kind === "timeout" ? "upstream_timeout" : "upstream_error";
      return appError(kind, "Failed to send the verification code");
    }
    // An address that its mail server refuses gets the same response as any other.
  }
  return {
    body: {
      status: "success",
      message: "If this address can receive mail, a verification code is on its way",
    },
    headers: answer.rate ? rateHeaders(verdictOf(answer.rate)) : {},
  } as const;
}

const letter = (code: string): string => `Your verification code is ${code}

It expires in 15 minutes and can be used once. If you did not request it, you can ignore this email.
`;

/**
 * Exchanges a code for an account and its first key. A wrong code counts as a failed try.
 * Errors: 400, 429. @param address the bucket of the caller's network address
 */
export async function verifyCode(db: Database, email: string, code: string, address: string) {
  const key = newKey(config().API_KEY_SECRET);
  const args = {
    ...codeArguments(email, code),
    ...limitArguments(address),
    keyName: "Sign-up",
    keyHash: key.hash,
    keyPrefix: key.prefix,
  };
  const answer = await call(db, "verify_signup_code", args, verified);
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
