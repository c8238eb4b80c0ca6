/** People of the embedded Supabase's auth, whose address counts as proved, without a mail. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createBearer } from "./clients.ts";
import { setting, sql } from "./stack.ts";

const session = z.looseObject({ access_token: z.string(), refresh_token: z.string() });
export type AuthSession = z.output<typeof session>;

/** A request as anybody with the public key makes it. */
export function askAuth(
  method: string,
  path: string,
  body?: unknown,
  bearer?: string,
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

/** Someone new with a password. */
export async function createAuthUser(
  email = `${randomUUID()}@example.com`,
): Promise<{ email: string; password: string }> {
  const password = randomUUID();
  const sub = randomUUID();
  await sql`insert into auth.users (id, email, email_confirmed_at) values (${sub}, ${email}, now())`;
  const answer = await askAuth("PUT", "user", { password }, await createBearer(email, { sub }));
  if (!answer.ok) throw new Error(`No password: ${answer.status} ${await answer.text()}`);
  return { email, password };
}

/** A real session of someone new, with a refresh token. */
export async function sessionFor(email: string): Promise<AuthSession> {
  const person = await createAuthUser(email);
  const answer = await askAuth("POST", "token?grant_type=password", person);
  return session.parse(await answer.json());
}
