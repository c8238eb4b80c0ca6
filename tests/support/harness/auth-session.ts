/** Sessions of the embedded Supabase's auth, without a mail. */
import { randomUUID } from "node:crypto";
import { createClient } from "@supabase/supabase-js";
import { z } from "zod";
import { registerSecret } from "../secrets/register.ts";
import { stack } from "./stack.ts";

type Environment = Readonly<Record<string, string>>;

const session = z.looseObject({ access_token: z.string(), refresh_token: z.string() });

/** Sends a request with the public key, which anybody may have. */
export function askAuth(
  method: string,
  path: string,
  body?: unknown,
  { bearer, env = stack.env }: { bearer?: string; env?: Environment } = {},
): Promise<Response> {
  return fetch(`${env.SUPABASE_URL}/auth/v1/${path}`, {
    method,
    headers: {
      apikey: env.SUPABASE_PUBLISHABLE_KEY ?? "",
      "content-type": "application/json",
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Returns a sign-in code as it would be mailed. */
export async function codeFor(email: string, env: Environment = stack.env): Promise<string> {
  const auth = createClient(env.SUPABASE_URL ?? "", env.SUPABASE_SECRET_KEY ?? "").auth;
  const { data, error } = await auth.admin.generateLink({ type: "magiclink", email });
  if (error) throw error;
  return data.properties.email_otp;
}

/**
 * Signs in, a new person by default, and returns the session with its refresh token.
 * @param env of the server that keeps the session; the shared one by default
 */
export async function sessionFor(email = `${randomUUID()}@example.com`, env = stack.env) {
  const token = await codeFor(email, env);
  const answer = await askAuth("POST", "verify", { type: "email", email, token }, { env });
  const signedIn = session.parse(await answer.json());
  registerSecret(signedIn.refresh_token, "refresh token");
  return signedIn;
}
