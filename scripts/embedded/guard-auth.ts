/**
 * An allowlist in front of the library's auth server: only the requests of signing in with an emailed
 * code pass. Passwords can be neither set nor used.
 */
import { createHash, randomInt } from "node:crypto";
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

const sessionSchema = z.looseObject({ access_token: z.string() });
const codeRequest = z.object({ type: z.literal("magiclink"), email: z.email().toLowerCase() });
const verification = z.object({
  type: z.literal("email"),
  email: z.string(),
  token: z.string(),
});

export function guardAuth(settings: Settings, library: Answer): Answer {
  const answerSession: Answer = async (request) => withIssuer(await library(request), settings);
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
    "POST /auth/v1/token": async (request) =>
      new URL(request.url).searchParams.get("grant_type") === "refresh_token"
        ? answerSession(request)
        : refuse(400, "invalid_credentials", "unsupported_grant_type"),
    "GET /auth/v1/user": library,
    "POST /auth/v1/logout": library,
    "POST /auth/v1/admin/generate_link": (request) => createCode(request, settings),
  };
  return async (request) => {
    const route = routes[`${request.method} ${new URL(request.url).pathname}`];
    return route === undefined ? refuse(404, "not_found", "Not found") : route(request);
  };
}

/** Adds the issuer, which the library omits from its tokens. */
async function withIssuer(response: Response, { issuer, jwtSecret }: Settings): Promise<Response> {
  if (!response.ok) return response;
  const session = sessionSchema.parse(await response.json());
  const access_token = await new SignJWT({ ...decodeJwt(session.access_token), iss: issuer })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
  return Response.json({ ...session, access_token }, { status: response.status });
}

/** Returns a sign-in code to the holder of the secret key instead of mailing it. */
async function createCode(request: Request, { sql, secretKey }: Settings): Promise<Response> {
  if (request.headers.get("apikey") !== secretKey) {
    return refuse(401, "no_authorization", "The secret key is required");
  }
  const wanted = codeRequest.safeParse(await request.json().catch(() => null));
  if (!wanted.success) return refuse(400, "validation_failed", "type and email are required");
  const { email } = wanted.data;
  const code = String(randomInt(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, "0");
  const hash = createHash("sha256").update(`${email}${code}`).digest("hex");
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
