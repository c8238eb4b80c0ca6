/** The public parts of an identity provider: its signing keys and its userinfo endpoint. */
import { createRemoteJWKSet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { readJson } from "../../platform/outbound/read-text.ts";
import { vendorFetch } from "../../platform/outbound/vendor-fetch.ts";
import { processWide } from "../../platform/process-wide.ts";
import { createTtlCache } from "../../platform/ttl-cache.ts";

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
}

export interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly jwksUrl: string;
  readonly userinfoUrl: string | undefined;
}

/** Discovers the provider once. A failed discovery is retried. */
export function oidcProvider(issuer: string): Promise<Provider> {
  const discovered = processWide("OIDC provider", () =>
    createTtlCache<Provider>({ ttlMs: Infinity, maxEntries: 1, shouldKeep: () => true }),
  );
  return discovered.get(issuer, () => discover(issuer));
}

/** Supabase Auth publishes its keys at a known URL, whatever issuer its tokens name. */
export function supabaseProvider(): Provider {
  return processWide("Supabase Auth", () => {
    const jwksUrl = new URL("/auth/v1/.well-known/jwks.json", config().SUPABASE_URL).href;
    return { keys: remoteKeys(jwksUrl), jwksUrl, userinfoUrl: undefined };
  });
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
export async function askProvider(url: string, headers: Record<string, string>): Promise<unknown> {
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
