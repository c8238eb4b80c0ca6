import { errors, type JWTPayload, jwtVerify } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import {
  askProvider,
  IdentityProviderUnavailable,
  oidcProvider,
  type Provider,
  supabaseProvider,
} from "./identity-provider.ts";
import { email, verifiedEmail } from "./verified-email.ts";

const CLOCK_TOLERANCE_SECONDS = 30;
const ASYMMETRIC_ALGORITHMS = [
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

/** The verified address of a token, and the claims by which an ended sign-in is recognized. */
export interface VerifiedToken {
  readonly email: string;
  /** The session of Supabase Auth; null for tokens without one and for other providers. */
  readonly sessionId: string | null;
  /** Null for a token without `iat`. */
  readonly issuedAt: Date | null;
}

/**
 * Resolves to the identity that a token proves, or to null when it does not verify.
 * @throws IdentityProviderUnavailable
 */
export async function verifyBearer(token: string): Promise<VerifiedToken | null> {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience } = config();
  try {
    return issuer !== undefined && audience !== undefined
      ? await verifyOidc(token, issuer, audience)
      : await verifySupabase(token);
  } catch (error) {
    if (isProviderFailure(error)) {
      throw new IdentityProviderUnavailable(String(error), { cause: error });
    }
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** Checks that the provider's keys can be read. @throws IdentityProviderUnavailable */
export async function checkIdentity(): Promise<void> {
  const provider = await configuredProvider();
  if (provider !== null && (await askProvider(provider.jwksUrl, {})) === null) {
    throw new IdentityProviderUnavailable("The identity provider refuses to publish its keys");
  }
}

/** Resolves to null where a shared secret verifies all tokens. */
async function configuredProvider(): Promise<Provider | null> {
  const { OIDC_ISSUER: issuer, SUPABASE_JWT_SECRET: secret } = config();
  if (issuer !== undefined) return oidcProvider(issuer);
  return secret === undefined ? supabaseProvider() : null;
}

async function verifyOidc(
  token: string,
  issuer: string,
  audience: string,
): Promise<VerifiedToken | null> {
  const { keys, userinfoUrl } = await oidcProvider(issuer);
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ASYMMETRIC_ALGORITHMS,
    issuer,
    audience,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["exp", "iss", "sub"],
  });
  const address = await verifiedEmail(token, payload, userinfoUrl);
  return address === null
    ? null
    : { email: address, sessionId: null, issuedAt: issueTime(payload) };
}

const issueTime = ({ iat }: JWTPayload): Date | null =>
  iat === undefined ? null : new Date(iat * 1000);

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
async function verifySupabase(token: string): Promise<VerifiedToken | null> {
  const { SUPABASE_JWT_SECRET: secret, SUPABASE_JWT_ISSUER, SUPABASE_URL } = config();
  const expected = {
    issuer: SUPABASE_JWT_ISSUER ?? new URL("/auth/v1", SUPABASE_URL).href,
    audience: "authenticated",
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["exp", "iss", "sub"],
  };
  const { payload } =
    secret === undefined
      ? await jwtVerify(token, supabaseProvider().keys, {
          ...expected,
          algorithms: ASYMMETRIC_ALGORITHMS,
        })
      : await jwtVerify(token, new TextEncoder().encode(secret), {
          ...expected,
          algorithms: ["HS256"],
        });
  const { data: address } = email.safeParse(payload.email);
  if (!isConfirmedPerson(payload) || address === undefined) return null;
  const { data: sessionId = null } = z.uuid().safeParse(payload.session_id);
  return { email: address, sessionId, issuedAt: issueTime(payload) };
}

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
