/** Decides whether an OIDC provider's claims prove that an e-mail address is the person's own. */
import { createHash, createHmac } from "node:crypto";
import type { JWTPayload } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { processWide } from "../../platform/process-wide.ts";
import { askProvider } from "./identity-provider.ts";

/** Userinfo answers that are cached; the oldest is evicted first. */
const MAX_USERINFO_ENTRIES = 10_000;

export const email = z.email().toLowerCase();

/** Returns the form in which a deleted account is remembered: a keyed hash of its e-mail address. */
export const hashIdentity = (address: string): string =>
  createHmac("sha256", config().API_KEY_SECRET).update(`identity ${address}`).digest("hex");

const profile = z.object({ sub: z.string(), email, email_verified: z.unknown() });

interface CachedEmail {
  readonly email: string | null;
  readonly until: number;
}

/**
 * Returns the verified e-mail address of a token, else of the userinfo endpoint, else null.
 * `email_verified` must be exactly `true`: text, numbers and null prove nothing. A token without the
 * claim defers to userinfo, unless OIDC_EMAIL_VERIFIED_BY_DEFAULT says that the provider only knows
 * verified addresses.
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

/** Caches the answer under the token's hash until the token expires; refusals are cached, too. */
async function askUserinfo(
  token: string,
  payload: JWTPayload,
  url: string,
): Promise<string | null> {
  const cache = processWide("userinfo answers", () => new Map<string, CachedEmail>());
  const id = createHash("sha256").update(token).digest("base64");
  const cached = cache.get(id);
  if (cached && cached.until > Date.now()) return cached.email;
  const answer = await askProvider(url, { authorization: `Bearer ${token}` });
  const found = profile.safeParse(answer);
  // OpenID Connect Core 1.0, section 5.3.2: another subject's profile must not be used.
  const own =
    found.success && found.data.sub === payload.sub && isVerified(found.data.email_verified);
  const result = own ? found.data.email : null;
  cache.delete(id);
  cache.set(id, { email: result, until: (payload.exp ?? 0) * 1000 });
  const oldest = cache.size > MAX_USERINFO_ENTRIES ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  return result;
}
