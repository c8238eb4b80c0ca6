/** Requests to Supabase Auth, and the limits of its codes. */

import { vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";

const TIMEOUT_MS = 15_000;

/**
 * Sends a request. @param apikey the project's public key, or its secret key for admin requests
 * @throws the error of `fetch` when the auth server cannot be reached or takes too long
 */
export function askAuthServer(
  path: string,
  apikey: string,
  init: { readonly method: string; readonly bearer?: string; readonly body?: unknown },
): Promise<Response> {
  const headers = new Headers({ apikey, "content-type": "application/json" });
  if (init.bearer !== undefined) headers.set("authorization", `Bearer ${init.bearer}`);
  return vendorFetch("auth", new URL(`/auth/v1/${path}`, config().SUPABASE_URL), {
    method: init.method,
    headers,
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

const argumentsOf = (email: string, address: string) => ({
  purpose: "sign-in",
  email,
  source: address,
});

/** Counts a mail. Resolves to false when the hourly limit for the e-mail address is reached. */
export const countMail = (db: Database, email: string, address: string): Promise<boolean> =>
  call(db, "count_code_mail", argumentsOf(email, address));

/**
 * Grants new tries after a mail was sent, or takes its count back. Tries are granted only then,
 * because the auth server may refuse a mail and leave the previous code valid.
 */
export async function recordMailOutcome(
  db: Database,
  email: string,
  address: string,
  sent: boolean,
): Promise<void> {
  const name = sent ? "grant_code_tries" : "withdraw_code_mail";
  await call(db, name, argumentsOf(email, address), z.null());
}

/**
 * Counts a try of a code. Resolves to false when none is left: to this network address, or, if it has
 * requested no code, to all such addresses together.
 */
export const countGuess = (db: Database, email: string, address: string): Promise<boolean> =>
  call(db, "take_code_try", argumentsOf(email, address));
