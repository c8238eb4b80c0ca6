/** Sessions of the embedded Supabase's auth, without a mail. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { setting } from "./stack.ts";

const session = z.looseObject({ access_token: z.string(), refresh_token: z.string() });
const link = z.looseObject({ email_otp: z.string() });
export type AuthSession = z.output<typeof session>;

/** A request as anybody with the public key makes it, or with another key. */
export function askAuth(
  method: string,
  path: string,
  body?: unknown,
  {
    bearer,
    apikey = setting("SUPABASE_PUBLISHABLE_KEY"),
  }: { bearer?: string; apikey?: string } = {},
): Promise<Response> {
  return fetch(`${setting("SUPABASE_URL")}/auth/v1/${path}`, {
    method,
    headers: {
      apikey,
      "content-type": "application/json",
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A code as it would be mailed: for the holder of the secret key. */
export async function codeFor(email: string): Promise<string> {
  const apikey = setting("SUPABASE_SECRET_KEY");
  const answer = await askAuth(
    "POST",
    "admin/generate_link",
    { type: "magiclink", email },
    { apikey },
  );
  return link.parse(await answer.json()).email_otp;
}

/** A real session, of someone new unless told, with a refresh token. */
export async function sessionFor(email = `${randomUUID()}@example.com`): Promise<AuthSession> {
  const token = await codeFor(email);
  const answer = await askAuth("POST", "verify", { type: "email", email, token });
  return session.parse(await answer.json());
}
