/**
 * Limits of the console's sign-in codes: mails to an e-mail address, and tries of a code. The database
 * counts them as it does for sign-up, separately for each network address.
 */
import { z } from "zod";
import { call } from "../../platform/database/query.ts";

const argumentsOf = (email: string, address: string) => ({
  p_purpose: "sign-in",
  p_email: email,
  p_source: address,
});

/** Counts a mail. Resolves to false when the hourly limit for the e-mail address is reached. */
export const countMail = (email: string, address: string): Promise<boolean> =>
  call("count_code_mail", argumentsOf(email, address), z.boolean());

/**
 * Grants new tries after a mail was sent, or takes its count back. Tries are granted only then,
 * because the auth server may refuse a mail and leave the previous code valid.
 */
export async function settleMail(email: string, address: string, sent: boolean): Promise<void> {
  const name = sent ? "grant_code_tries" : "withdraw_code_mail";
  await call(name, argumentsOf(email, address), z.null());
}

/**
 * Counts a try of a code. Resolves to false when none is left: to this network address, or, if it has
 * requested no code, to all such addresses together.
 */
export const countGuess = (email: string, address: string): Promise<boolean> =>
  call("take_code_try", argumentsOf(email, address), z.boolean());
