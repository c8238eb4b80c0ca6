/**
 * A bearer token becomes the e-mail of a person, or null. Which way it is verified is a matter of
 * configuration, never of the token's own header. Spec: Authentication 4; decisions, section 2.
 */
import { createHash } from "node:crypto";
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";

/** Seconds that clocks may differ. */
const CLOCK_TOLERANCE = 30;
const ASYMMETRIC = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** Milliseconds an identity provider has to answer. */
const PROVIDER_DEADLINE = 5_000;
/** Userinfo answers kept; the oldest goes first. */
const USERINFO_CACHE_SIZE = 10_000;

const email = z.email().toLowerCase();
const discovery = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
});
const profile = z.object({
  sub: z.string(),
  email,
  email_verified: z.union([z.boolean(), z.string()]).optional(),
});

/** The identity provider could not be asked: the route answers 503, not 401. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
}

interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly jwksUrl: string;
  readonly userinfoUrl: string | undefined;
}

declare global {
  var agentPlatformProvider: Promise<Provider> | undefined;
  var agentPlatformUserinfo: Map<string, { email: string | null; until: number }> | undefined;
}

interface Issuer {
  readonly issuer: string;
  readonly audience: string;
}

function wayOfVerifying(): Issuer | { readonly secret: string } {
  const settings = config();
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, SUPABASE_JWT_SECRET: secret } = settings;
  if (issuer !== undefined && audience !== undefined) return { issuer, audience };
  if (secret !== undefined) return { secret };
  return { issuer: new URL("/auth/v1", settings.SUPABASE_URL).href, audience: "authenticated" };
}

export async function verifyBearer(token: string): Promise<string | null> {
  try {
    const way = wayOfVerifying();
    return "secret" in way ? await verifyShared(token, way.secret) : await verifyOidc(token, way);
  } catch (error) {
    if (isProviderFailure(error)) {
      throw new IdentityProviderUnavailable(String(error), { cause: error });
    }
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** For readiness: can tokens be verified now? @throws when the provider cannot be asked */
export async function checkIdentity(): Promise<void> {
  const way = wayOfVerifying();
  if ("secret" in way) return;
  const { jwksUrl } = await provider(way.issuer);
  if ((await askProvider(jwksUrl, {})) === null) {
    throw new IdentityProviderUnavailable("The identity provider refuses its keys");
  }
}

/** The embedded Supabase's auth, or a hosted one that still signs with the shared secret. */
async function verifyShared(token: string, secret: string): Promise<string | null> {
  const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
    algorithms: ["HS256"],
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ["exp"],
  });
  return isRefused(payload) ? null : emailOf(payload);
}

async function verifyOidc(token: string, { issuer, audience }: Issuer): Promise<string | null> {
  const { keys, userinfoUrl } = await provider(issuer);
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ASYMMETRIC,
    issuer,
    audience,
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ["exp", "iss", "sub"],
  });
  if (isRefused(payload)) return null;
  return (
    emailOf(payload) ??
    (userinfoUrl === undefined ? null : askUserinfo(token, payload, userinfoUrl))
  );
}

const isRefused = (claims: { readonly [claim: string]: unknown }): boolean =>
  claims.email_verified === false || claims.email_verified === "false";

const emailOf = (payload: JWTPayload): string | null => email.safeParse(payload.email).data ?? null;

function isProviderFailure(error: unknown): boolean {
  return (
    error instanceof IdentityProviderUnavailable ||
    error instanceof errors.JWKSTimeout ||
    // A JWKS that answers, but not with 200 and JSON, and a connection that fails.
    (error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC") ||
    (error instanceof TypeError && error.message === "fetch failed")
  );
}

/** Found once, by discovery unless both URLs are settings; a failure is tried again next time. */
function provider(issuer: string): Promise<Provider> {
  globalThis.agentPlatformProvider ??= discover(issuer).catch((error: unknown) => {
    globalThis.agentPlatformProvider = undefined;
    throw error;
  });
  return globalThis.agentPlatformProvider;
}

async function discover(issuer: string): Promise<Provider> {
  const { OIDC_JWKS_URL: jwksUrl, OIDC_USERINFO_URL: userinfoUrl } = config();
  if (jwksUrl !== undefined) return { keys: remoteKeys(jwksUrl), jwksUrl, userinfoUrl };
  const found = discovery.safeParse(
    await askProvider(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {}),
  );
  if (!found.success || found.data.issuer !== issuer) {
    throw new IdentityProviderUnavailable(
      "The identity provider's discovery document is not its own",
    );
  }
  return {
    keys: remoteKeys(found.data.jwks_uri),
    jwksUrl: found.data.jwks_uri,
    userinfoUrl: userinfoUrl ?? found.data.userinfo_endpoint,
  };
}

const remoteKeys = (url: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    timeoutDuration: PROVIDER_DEADLINE,
    // A key that was just rotated in is accepted after a second, and nobody can make us ask more often.
    cooldownDuration: 1_000,
  });

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
  const own = found.success && found.data.sub === payload.sub && !isRefused(found.data);
  const result = own ? found.data.email : null;
  cache.delete(id);
  cache.set(id, { email: result, until: (payload.exp ?? 0) * 1000 });
  const oldest = cache.size > USERINFO_CACHE_SIZE ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  return result;
}

/** JSON, or null when the provider refuses (4xx). */
async function askProvider(url: string, headers: Record<string, string>): Promise<unknown> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(PROVIDER_DEADLINE);
    response = await fetch(url, { headers, signal, redirect: "error", cache: "no-store" });
  } catch (cause) {
    throw new IdentityProviderUnavailable("The identity provider did not answer", { cause });
  }
  if (response.status >= 500 || response.status === 429) {
    throw new IdentityProviderUnavailable(`The identity provider answered ${response.status}`);
  }
  return response.ok ? response.json().catch(() => null) : null;
}
