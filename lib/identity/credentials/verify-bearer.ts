import { errors, type JWTPayload, jwtVerify } from "jose";
import { config } from "../../platform/config.ts";
import {
  askProvider,
  IdentityProviderUnavailable,
  oidcProvider,
  type Provider,
  supabaseProvider,
} from "./identity-provider.ts";
import { email, verifiedEmail } from "./verified-email.ts";

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

export async function verifyBearer(token: string): Promise<string | null> {
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

/** For readiness: can tokens be verified now? @throws when the provider cannot be asked */
export async function checkIdentity(): Promise<void> {
  const provider = await providerInUse();
  if (provider !== null && (await askProvider(provider.jwksUrl, {})) === null) {
    throw new IdentityProviderUnavailable("The identity provider refuses its keys");
  }
}

/** Null where a shared secret verifies all tokens. */
async function providerInUse(): Promise<Provider | null> {
  const { OIDC_ISSUER: issuer, SUPABASE_JWT_SECRET: secret } = config();
  if (issuer !== undefined) return oidcProvider(issuer);
  return secret === undefined ? supabaseProvider() : null;
}

async function verifyOidc(token: string, issuer: string, audience: string): Promise<string | null> {
  const { keys, userinfoUrl } = await oidcProvider(issuer);
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ASYMMETRIC,
    issuer,
    audience,
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ["exp", "iss", "sub"],
  });
  return verifiedEmail(token, payload, userinfoUrl);
}

/**
 * Supabase Auth, hosted or embedded, by its shared secret where there is one, else by its keys. The
 * same project may sign other tokens with them (its own keys, tokens for other services), so issuer,
 * audience and role must be those of a person's session.
 *
 * Supabase puts no `email_verified` beside `email`; a project's own hook may, and is then believed.
 * There need be none: Supabase Auth gives a session only to a person whose address is confirmed, as
 * long as the project confirms addresses, and puts a new address into the token only once it is
 * confirmed. `user_metadata.email_verified` is not looked at: people change their metadata
 * themselves, and Supabase leaves it at false when a mailed code confirms an address.
 */
async function verifySupabase(token: string): Promise<string | null> {
  const { SUPABASE_JWT_SECRET: secret, SUPABASE_JWT_ISSUER, SUPABASE_URL } = config();
  const wanted = {
    issuer: SUPABASE_JWT_ISSUER ?? new URL("/auth/v1", SUPABASE_URL).href,
    audience: "authenticated",
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ["exp", "iss", "sub"],
  };
  const { payload } =
    secret === undefined
      ? await jwtVerify(token, supabaseProvider().keys, {
          ...wanted,
          algorithms: ASYMMETRIC,
        })
      : await jwtVerify(token, new TextEncoder().encode(secret), {
          ...wanted,
          algorithms: ["HS256"],
        });
  return isConfirmedPerson(payload) ? (email.safeParse(payload.email).data ?? null) : null;
}

const isConfirmedPerson = ({ role, email_verified: stated }: JWTPayload): boolean =>
  role === "authenticated" && (stated === undefined || stated === true);

function isProviderFailure(error: unknown): boolean {
  return (
    error instanceof IdentityProviderUnavailable ||
    error instanceof errors.JWKSTimeout ||
    // A JWKS that answers, but not with 200 and JSON, and a connection that fails.
    (error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC") ||
    (error instanceof TypeError && error.message === "fetch failed")
  );
}
