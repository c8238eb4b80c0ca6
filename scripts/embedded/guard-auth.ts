/**
 * An allowlist in front of the library's auth server: only the requests of signing in with an emailed
 * code pass. Passwords can be neither set nor used.
 */
import { createHash, createHmac, randomInt } from "node:crypto";
import { decodeJwt, SignJWT } from "jose";
import type { Sql } from "postgres";
import { z } from "zod";

export const CODE_LENGTH = 8;

type Answer = (request: Request) => Promise<Response>;

interface Settings {
  readonly sql: Sql;
  readonly jwtSecret: string;
  readonly secretKey: string;
  readonly issuer: string;
}

const sessionSchema = z.looseObject({ access_token: z.string(), refresh_token: z.string() });
const renewal = z.object({ refresh_token: z.string() });
const codeRequest = z.object({ type: z.literal("magiclink"), email: z.email().toLowerCase() });
const verification = z.object({
  type: z.literal("email"),
  email: z.string(),
  token: z.string(),
});

export function guardAuth(settings: Settings, library: Answer): Answer {
  const answerSession = async (request: Request, successor?: string) =>
    completeSession(await library(request), settings, successor);
  const routes: Readonly<Record<string, Answer>> = {
    "POST /auth/v1/otp": library,
    "POST /auth/v1/verify": async (request) => {
      const given = verification.safeParse(await request.json().catch(() => null));
      if (!given.success)
        return refuse(400, "validation_failed", "Only an emailed code can be verified");
      // The library knows only the older name of Supabase's verification type `email`.
      const body = JSON.stringify({ ...given.data, type: "magiclink" });
      const { url, method, headers } = request;
      return answerSession(new Request(url, { method, headers, body }));
    },
    "POST /auth/v1/token": async (request) => {
      if (new URL(request.url).searchParams.get("grant_type") !== "refresh_token") {
        return refuse(400, "invalid_credentials", "unsupported_grant_type");
      }
      const given = renewal.safeParse(await request.json().catch(() => null));
      if (!given.success) return refuse(400, "validation_failed", "refresh_token is required");
      const renewed = await renewToken(given.data.refresh_token, settings);
      if (renewed instanceof Response) return renewed;
      const body = JSON.stringify({ refresh_token: renewed.replaced });
      const { url, method, headers } = request;
      return answerSession(new Request(url, { method, headers, body }), renewed.successor);
    },
    "GET /auth/v1/user": library,
    "POST /auth/v1/logout": library,
    "POST /auth/v1/admin/generate_link": (request) => createCode(request, settings),
  };
  return async (request) => {
    const route = routes[`${request.method} ${new URL(request.url).pathname}`];
    return route === undefined ? refuse(404, "not_found", "Not found") : route(request);
  };
}

/**
 * Adds the issuer, which the library omits from its tokens.
 *
 * @param successor the refresh token after a renewal; of a token that is replaced, the library knows the hash alone
 */
async function completeSession(
  response: Response,
  { issuer, jwtSecret }: Settings,
  successor?: string,
): Promise<Response> {
  if (!response.ok) return response;
  const session = sessionSchema.parse(await response.json());
  const access_token = await new SignJWT({ ...decodeJwt(session.access_token), iss: issuer })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
  const refresh_token = successor ?? session.refresh_token;
  return Response.json({ ...session, access_token, refresh_token }, { status: response.status });
}

/** How long a replaced token is answered with its successor: two tabs renew at once, and a response may be lost. */
const REUSE_SECONDS = 10;

/**
 * Replaces a refresh token as Supabase Auth does: a repeat within seconds gets the same successor, and a later one
 * ends the session, because the token is in two hands. The successor is derived from the token, so it can be
 * repeated although only its hash is stored.
 *
 * @returns the hash of the replaced token and its successor, or the refusal
 */
async function renewToken(
  token: string,
  { sql, jwtSecret }: Settings,
): Promise<{ replaced: string; successor: string } | Response> {
  const replaced = sha256(token);
  const successor = createHmac("sha256", jwtSecret)
    .update(`successor of refresh token ${replaced}`)
    .digest("base64url");
  const state = await sql.begin(async (tx) => {
    // One renewal of a session at a time.
    await tx`
      select from auth.sessions
      where id in (select session_id from auth.refresh_tokens where token = ${replaced}) for update`;
    const [found] = await tx`
      select t.session_id, t.revoked, t.updated_at > clock_timestamp() - make_interval(secs => ${REUSE_SECONDS})
        and exists (select from auth.refresh_tokens n where n.token = ${sha256(successor)}) as is_repeat
      from auth.refresh_tokens t join auth.sessions s on s.id = t.session_id
      where t.token = ${replaced}`;
    if (!found) return "unknown";
    if (!found.revoked) {
      await tx`
        update auth.refresh_tokens set revoked = true, updated_at = clock_timestamp()
        where token = ${replaced}`;
      await tx`
        insert into auth.refresh_tokens (id, token, user_id, session_id, parent)
        select gen_random_uuid(), ${successor}, user_id, session_id, token
        from auth.refresh_tokens where token = ${replaced}`;
      return "renewed";
    }
    if (found.is_repeat) return "renewed";
    await tx`delete from auth.sessions where id = ${found.session_id}`;
    return "reused";
  });
  if (state === "renewed") return { replaced, successor };
  return state === "reused"
    ? refuse(400, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
    : refuse(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found");
}

/**
 * Makes the database store only the hashes of refresh tokens. The library compares the stored value with
 * the client's token, so `guardAuth` hashes the latter. Tokens that an earlier version stored are
 * dropped.
 */
export async function hashRefreshTokens(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      create or replace function auth.hash_refresh_token() returns trigger
      language plpgsql set search_path = '' as $$
      begin
        new.token := encode(sha256(convert_to(new.token, 'UTF8')), 'hex');
        return new;
      end
      $$`;
    const [clear] = await tx`select from auth.refresh_tokens where length(token) < 64 limit 1`;
    if (clear) await tx`truncate auth.refresh_tokens`;
    await tx`
      create or replace trigger hash_refresh_token before insert on auth.refresh_tokens
      for each row execute function auth.hash_refresh_token()`;
  });
}

/** Refresh tokens have at least 74 random bits, so an unkeyed hash is safe. */
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Returns a sign-in code to the holder of the secret key instead of mailing it. */
async function createCode(request: Request, { sql, secretKey }: Settings): Promise<Response> {
  if (request.headers.get("apikey") !== secretKey) {
    return refuse(401, "no_authorization", "The secret key is required");
  }
  const wanted = codeRequest.safeParse(await request.json().catch(() => null));
  if (!wanted.success) return refuse(400, "validation_failed", "type and email are required");
  const { email } = wanted.data;
  const code = String(randomInt(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, "0");
  const hash = sha256(`${email}${code}`);
  await sql`
    insert into auth.users (id, email, email_confirmed_at)
    select gen_random_uuid(), ${email}, now()
    where not exists (select from auth.users where email = ${email})`;
  await sql`
    update auth.users set recovery_token = ${hash}, recovery_sent_at = now() where email = ${email}`;
  return Response.json({ email_otp: code, verification_type: "magiclink" });
}

/** Answers with an error in the format of Supabase Auth. */
function refuse(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "x-sb-error-code": code } },
  );
}
