/** Sessions of the embedded Supabase's auth, without a mail. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { admin, setting } from "./stack.ts";

const session = z.looseObject({ access_token: z.string(), refresh_token: z.string() });

/** Sends a request with the public key, which anybody may have. */
export function askAuth(
  method: string,
  path: string,
  body?: unknown,
  { bearer }: { bearer?: string } = {},
): Promise<Response> {
  return fetch(`${setting("SUPABASE_URL")}/auth/v1/${path}`, {
    method,
    headers: {
      apikey: setting("SUPABASE_PUBLISHABLE_KEY"),
      "content-type": "application/json",
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Returns a sign-in code as it would be mailed. */
export async function codeFor(email: string): Promise<string> {
  const { data, error } = await admin.auth.admin.generateLink({ type: "magiclink", email });
  if (error) throw error;
  return data.properties.email_otp;
}

/** Signs in, a new person by default, and returns the session with its refresh token. */
export async function sessionFor(email = `${randomUUID()}@example.com`) {
  const token = await codeFor(email);
  const answer = await askAuth("POST", "verify", { type: "email", email, token });
  return session.parse(await answer.json());
}
