/** Whether what an OIDC provider says of a person's e-mail proves that it is the person's. */
import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { askProvider } from "./identity-provider.ts";

/** Userinfo answers kept; the oldest goes first. */
const USERINFO_CACHE_SIZE = 10_000;

export const email = z.email().toLowerCase();
const profile = z.object({ sub: z.string(), email, email_verified: z.unknown() });

declare global {
  var agentPlatformUserinfo: Map<string, { email: string | null; until: number }> | undefined;
}

/**
 * The e-mail of a verified token, else the one of userinfo, else null. `email_verified` must be
 * exactly true: text, numbers and null prove nothing. A token that does not have the claim leaves
 * it to userinfo, unless the setting says that this provider only knows e-mails it has verified.
 */
export async function verifiedEmail(
  token: string,
  payload: JWTPayload,
  userinfoUrl: string | undefined,
): Promise<string | null> {
  const stated = payload.email_verified;
  if (stated !== undefined && stated !== true) return null;
  const own = email.safeParse(payload.email);
  if (own.success && isVerified(stated)) return own.data;
  return userinfoUrl === undefined ? null : askUserinfo(token, payload, userinfoUrl);
}

const isVerified = (claim: unknown): boolean =>
  claim === undefined ? config().OIDC_EMAIL_VERIFIED_BY_DEFAULT : claim === true;

/** Cached under the token's hash until it expires; a provider that says no is remembered too. */
async function askUserinfo(
  token: string,
  payload: JWTPayload,
  url: string,
): Promise<string | null> {
  globalThis.agentPlatformUserinfo ??= new Map();
  const cache = globalThis.agentPlatformUserinfo;
  const id = createHash("sha256").update(token).digest("base64");
  const cached = cache.get(id);
  if (cached && cached.until > Date.now()) return cached.email;
  const answer = await askProvider(url, { authorization: `Bearer ${token}` });
  const found = profile.safeParse(answer);
  // The specification of OIDC asks for this: another subject's profile must not be used.
  const own =
    found.success && found.data.sub === payload.sub && isVerified(found.data.email_verified);
  const result = own ? found.data.email : null;
  cache.delete(id);
  cache.set(id, { email: result, until: (payload.exp ?? 0) * 1000 });
  const oldest = cache.size > USERINFO_CACHE_SIZE ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  return result;
}
