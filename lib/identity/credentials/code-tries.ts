/**
 * The console's codes: how many mails an e-mail address gets, and how many guesses there are at one.
 * Counted in the database as those of sign-up are, each network address apart.
 */
import { z } from "zod";
import { call } from "../../platform/database/query.ts";

const of = (email: string, address: string) => ({
  p_purpose: "sign-in",
  p_email: email,
  p_source: address,
});

/** False when the e-mail address, or this network address for it, had its mails of this hour. */
export const countMail = (email: string, address: string): Promise<boolean> =>
  call("count_code_mail", of(email, address), z.boolean());

/**
 * A mail that went out brings new tries; one that did not, does not count. Tries are given only then,
 * because the auth server may refuse a mail and leave the code before in force.
 */
export async function settleMail(email: string, address: string, wentOut: boolean): Promise<void> {
  const name = wentOut ? "grant_code_tries" : "withdraw_code_mail";
  await call(name, of(email, address), z.null());
}

/** False when this network address has no try left, or, not having asked for a code, all such. */
export const countGuess = (email: string, address: string): Promise<boolean> =>
  call("take_code_try", of(email, address), z.boolean());
