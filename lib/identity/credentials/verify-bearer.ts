/** Verifies bearer tokens, of Supabase Auth or of any OIDC provider, and decides whether they prove an e-mail address. */
import { createHash, createHmac } from "node:crypto";
import { log } from "@platform/kit/log";
import { readJson, vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { createTtlCache } from "@platform/kit/ttl-cache";
import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";

const CLOCK_TOLERANCE_SECONDS = 30;
const ASYMMETRIC_ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** The verified address of a token, and the claims by which an ended sign-in is recognized. */
export interface VerifiedToken {
  readonly email: string;
  /** The session of Supabase Auth; null for tokens without one and for other providers. */
  readonly sessionId: string | null;
  /** Null for a token without `iat`. */
  readonly issuedAt: Date | null;
}

/** Userinfo answers that are cached; the oldest is evicted first. */
const MAX_USERINFO_ENTRIES = 10_000;
/** A token expires after about as long. */
const USERINFO_TTL_MS = 60 * 60_000;

/** Verifies tokens of the identity provider that the settings name. */
export class TokenVerifier {
  /** The provider is discovered once. A failed discovery is retried. */
  readonly #providers = createTtlCache<Provider>({ ttlMs: Infinity, maxEntries: 1 });
  /** Under the hashes of tokens; refusals are cached, too. */
  readonly #userinfo = createTtlCache<string | null>({
    ttlMs: USERINFO_TTL_MS,
    maxEntries: MAX_USERINFO_ENTRIES,
  });

  /**
   * Resolves to the identity that a token proves, or to null when it does not verify.
   * @throws IdentityProviderUnavailable
   */
  async verify(token: string): Promise<VerifiedToken | null> {
    const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience } = config();
    try {
      return issuer !== undefined && audience !== undefined
        ? await this.#verifyOidc(token, issuer, audience)
        : await this.#verifySupabase(token);
    } catch (error) {
      if (isProviderFailure(error)) {
        throw new IdentityProviderUnavailable(String(error), { cause: error });
      }
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  /** Checks that the provider's keys can be read. @throws IdentityProviderUnavailable */
  async check(): Promise<void> {
    const { OIDC_ISSUER: issuer, SUPABASE_JWT_SECRET: secret } = config();
    // The shared secret verifies all tokens.
    if (issuer === undefined && secret !== undefined) return;
    const { jwksUrl } = await this.#provider();
    if ((await askProvider(jwksUrl, {})) === null) {
      throw new IdentityProviderUnavailable("The identity provider refuses to publish its keys");
    }
  }

  #provider(): Promise<Provider> {
    const { OIDC_ISSUER: issuer, SUPABASE_URL } = config();
    return this.#providers.get(issuer ?? SUPABASE_URL, async () =>
      issuer === undefined ? supabaseProvider(SUPABASE_URL) : discover(issuer),
    );
  }

  async #verifyOidc(token: string, issuer: string, audience: string) {
    const { keys, userinfoUrl } = await this.#provider();
    const payload = await verifyJwt(token, keys, {
      algorithms: ASYMMETRIC_ALGORITHMS,
      issuer,
      audience,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["exp", "iss", "sub"],
    });
    const address = await this.#verifiedEmail(token, payload, userinfoUrl);
    return address === null
      ? null
      : { email: address, sessionId: null, issuedAt: issueTime(payload) };
  }

  /**
   * Verifies a token of Supabase Auth, hosted or embedded, with the shared secret if there is one, else
   * with the published keys. The project may sign other tokens with the same keys, so the issuer, the
   * audience and the role must match a person's session.
   *
   * Supabase adds no `email_verified` next to `email`. It is not required, because Supabase Auth starts
   * a session only for a confirmed address, as long as the project confirms addresses, and a token has a
   * new address only once that is confirmed. A claim that a project's own hook adds is respected.
   * `user_metadata.email_verified` is ignored: users can change their metadata, and Supabase leaves it
   * at false when a mailed code confirms an address.
   */
  async #verifySupabase(token: string): Promise<VerifiedToken | null> {
    const { SUPABASE_JWT_SECRET: secret, SUPABASE_JWT_ISSUER, SUPABASE_URL } = config();
    const expected = {
      issuer: SUPABASE_JWT_ISSUER ?? new URL("/auth/v1", SUPABASE_URL).href,
      audience: "authenticated",
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["exp", "iss", "sub"],
    };
    const payload = await (secret === undefined
      ? verifyJwt(token, (await this.#provider()).keys, {
          ...expected,
          algorithms: ASYMMETRIC_ALGORITHMS,
        })
      : verifyJwt(token, new TextEncoder().encode(secret), { ...expected, algorithms: ["HS256"] }));
    const { data: address } = email.safeParse(payload.email);
    if (!isConfirmedPerson(payload) || address === undefined) return null;
    const { data: sessionId = null } = z.uuid().safeParse(payload.session_id);
    return { email: address, sessionId, issuedAt: issueTime(payload) };
  }

  /**
   * Returns the verified e-mail address of a token, else of the userinfo endpoint, else null.
   * `email_verified` must be `true`, or that word as some providers send it: other texts, numbers and null prove nothing.
   * A token without the claim defers to userinfo, unless OIDC_EMAIL_VERIFIED_BY_DEFAULT says that the provider only knows
   * verified addresses.
   */
  async #verifiedEmail(token: string, payload: JWTPayload, userinfoUrl: string | undefined) {
    const stated = payload.email_verified;
    if (stated !== undefined && !isTrue(stated)) return null;
    const own = email.safeParse(payload.email);
    if (own.success && isVerified(stated)) return own.data;
    return userinfoUrl === undefined ? null : this.#askUserinfo(token, payload, userinfoUrl);
  }

  #askUserinfo(token: string, payload: JWTPayload, url: string): Promise<string | null> {
    const key = createHash("sha256").update(token).digest("base64");
    return this.#userinfo.get(key, async () => {
      const answer = await askProvider(url, { authorization: `Bearer ${token}` });
      const { data: found } = profile.safeParse(answer);
      // OpenID Connect Core 1.0, section 5.3.2: another subject's profile must not be used.
      const isOwn = found?.sub === payload.sub && isVerified(found?.email_verified);
      return isOwn ? (found?.email ?? null) : null;
    });
  }
}

/** The last second that a date with a year of four digits has. */
const MAX_ISSUE_TIME = 253_402_300_799;

/** Returns the claims. @throws JOSEError for a token that does not verify */
async function verifyJwt(
  token: string,
  key: JWTVerifyGetKey | Uint8Array,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let payload: JWTPayload;
  try {
    ({ payload } =
      typeof key === "function"
        ? await jwtVerify(token, key, options)
        : await jwtVerify(token, key, options));
  } catch (error) {
    if (error instanceof errors.JOSEError || isProviderFailure(error)) throw error;
    // A published key that cannot be used, such as one of 1,024 bits.
    log().warn({ err: error }, "A token could not be verified");
    throw new errors.JWTInvalid("The key cannot be used", { cause: error });
  }
  const { iat } = payload;
  if (iat !== undefined && !(iat >= 0 && iat <= MAX_ISSUE_TIME)) {
    throw new errors.JWTInvalid("iat is not a time");
  }
  return payload;
}

const issueTime = ({ iat }: JWTPayload): Date | null =>
  iat === undefined ? null : new Date(iat * 1000);

const isConfirmedPerson = ({ role, email_verified: stated }: JWTPayload): boolean =>
  role === "authenticated" && (stated === undefined || stated === true);

function isProviderFailure(error: unknown): boolean {
  return (
    error instanceof IdentityProviderUnavailable ||
    error instanceof errors.JWKSTimeout ||
    // A JWKS response other than 200 with JSON, and a failed connection.
    (error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC") ||
    (error instanceof TypeError && error.message === "fetch failed")
  );
}

const email = z.email().toLowerCase();

/** Returns the form in which a deleted account is remembered: a keyed hash of its e-mail address. */
export const hashIdentity = (address: string, secret = config().API_KEY_SECRET): string =>
  createHmac("sha256", secret).update(`identity ${address}`).digest("hex");

const profile = z.object({ sub: z.string(), email, email_verified: z.unknown() });

/** Amazon Cognito and others send the word. */
const isTrue = (claim: unknown): boolean => claim === true || claim === "true";

const isVerified = (claim: unknown): boolean =>
  claim === undefined ? config().OIDC_EMAIL_VERIFIED_BY_DEFAULT : isTrue(claim);

/** How long an identity provider has to answer. */
const PROVIDER_TIMEOUT_MS = 5_000;

const discovery = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
});

/** The identity provider could not be reached or failed: the API answers 503, not 401. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
  readonly code = "IDENTITY_PROVIDER_UNAVAILABLE";
}

/** Compares the code, because each bundle of the server has its own class. */
export const isIdentityUnavailable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "IDENTITY_PROVIDER_UNAVAILABLE";

interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly jwksUrl: string;
  readonly userinfoUrl: string | undefined;
}

/** Supabase Auth publishes its keys at a known URL, whatever issuer its tokens name. */
function supabaseProvider(url: string): Provider {
  const jwksUrl = new URL("/auth/v1/.well-known/jwks.json", url).href;
  return { keys: remoteKeys(jwksUrl), jwksUrl, userinfoUrl: undefined };
}

async function discover(issuer: string): Promise<Provider> {
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
    userinfoUrl: found.data.userinfo_endpoint,
  };
}

const remoteKeys = (url: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    timeoutDuration: PROVIDER_TIMEOUT_MS,
    // A key that was just rotated in is accepted within a second, and forged key ids cannot cause
    // more than one request a second.
    cooldownDuration: 1_000,
  });

/** Returns the provider's JSON; null when it refuses (4xx) or sends anything else.
 * @throws IdentityProviderUnavailable when it does not answer, fails or throttles
 */
async function askProvider(url: string, headers: Record<string, string>): Promise<unknown> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(PROVIDER_TIMEOUT_MS);
    response = await vendorFetch("identity", url, {
      headers,
      signal,
      redirect: "error",
      cache: "no-store",
    });
  } catch (cause) {
    throw new IdentityProviderUnavailable("The identity provider did not answer", { cause });
  }
  if (response.status >= 500 || response.status === 429) {
    throw new IdentityProviderUnavailable(`The identity provider answered ${response.status}`);
  }
  return response.ok ? readJson(response).catch(() => null) : null;
}
