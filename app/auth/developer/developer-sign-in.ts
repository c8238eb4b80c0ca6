/**
 * Signs in as the seeded account with one click: only in `npm run dev` with the embedded auth, and only
 * for a page on this machine. `Host` and `Origin` are checked, because they reveal a name that an
 * attacker points at loopback (DNS rebinding).
 */

import { isFromThisMachine } from "@platform/endpoint/client-address";
import { appError } from "@platform/endpoint/contract/app-error";
import { errorResponse } from "@platform/endpoint/error-response";
import { z } from "zod";
import { askAuthServer } from "@/lib/identity/credentials/auth-server.ts";
import { DEVELOPER_EMAIL } from "@/lib/identity/credentials/developer-account.ts";
import { type Config, config } from "@/lib/platform/config.ts";

const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);
const link = z.object({ email_otp: z.string() });
const session = z.object({ access_token: z.string(), refresh_token: z.string() });

export function hasDeveloperSignIn(settings: Config = config()): boolean {
  const { NODE_ENV, EMBEDDED_SUPABASE, OIDC_ISSUER } = settings;
  return NODE_ENV === "development" && EMBEDDED_SUPABASE && OIDC_ISSUER === undefined;
}

/** Responds with the two tokens; 404 where it is not available, 403 to any other page or machine. */
export async function signInDeveloper(request: Request): Promise<Response> {
  const { SUPABASE_SECRET_KEY: secretKey, SUPABASE_PUBLISHABLE_KEY: publicKey } = config();
  if (!hasDeveloperSignIn() || publicKey === undefined) {
    return errorResponse(appError("not_found", "Not found"), "error");
  }
  if (!isLocalPage(request.headers)) {
    return errorResponse(appError("forbidden", "Only for pages of this machine"), "error");
  }
  // The code that would be mailed, which the secret key can read.
  const asked = await askAuthServer("admin/generate_link", secretKey, {
    method: "POST",
    body: { type: "magiclink", email: DEVELOPER_EMAIL },
  });
  const made = link.safeParse(asked.ok ? await asked.json() : null);
  const answer = await askAuthServer("verify", publicKey, {
    method: "POST",
    body: { type: "email", email: DEVELOPER_EMAIL, token: made.data?.email_otp },
  });
  const parsed = session.safeParse(answer.ok ? await answer.json() : null);
  if (!parsed.success) {
    return errorResponse(appError("unavailable", "The auth server gave no session"), "error");
  }
  return Response.json(parsed.data, { headers: { "cache-control": "no-store" } });
}

/** Returns whether a page of this machine, opened by its local name, makes the request. */
export function isLocalPage(headers: Headers): boolean {
  const host = headers.get("host") ?? "";
  const name = URL.parse(`http://${host}`)?.hostname ?? "";
  return (
    isFromThisMachine(headers) &&
    LOCAL_HOSTS.has(name) &&
    headers.get("origin") === `http://${host}` &&
    (headers.get("sec-fetch-site") ?? "same-origin") === "same-origin"
  );
}
