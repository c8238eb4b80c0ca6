/** What an identity provider publishes: its keys, and where it tells more of a person. */
import { createRemoteJWKSet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { readJson } from "../../platform/outbound/read-text.ts";

/** Milliseconds an identity provider has to answer. */
const PROVIDER_DEADLINE = 5_000;

const discovery = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
});

/** The identity provider could not be asked: the route answers 503, not 401. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
}

export interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly jwksUrl: string;
  readonly userinfoUrl: string | undefined;
}

declare global {
  var agentPlatformProvider: Promise<Provider> | undefined;
}

/** Found once, by discovery unless both URLs are settings; a failure is tried again next time. */
export function oidcProvider(issuer: string): Promise<Provider> {
  globalThis.agentPlatformProvider ??= discover(issuer).catch((error: unknown) => {
    globalThis.agentPlatformProvider = undefined;
    throw error;
  });
  return globalThis.agentPlatformProvider;
}

/** Supabase Auth has its keys in a known place, whatever name it issues tokens under. */
export function supabaseProvider(): Promise<Provider> {
  const { OIDC_JWKS_URL, SUPABASE_URL } = config();
  const jwksUrl = OIDC_JWKS_URL ?? new URL("/auth/v1/.well-known/jwks.json", SUPABASE_URL).href;
  globalThis.agentPlatformProvider ??= Promise.resolve({
    keys: remoteKeys(jwksUrl),
    jwksUrl,
    userinfoUrl: undefined,
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

/** JSON, or null when the provider refuses (4xx). */
export async function askProvider(url: string, headers: Record<string, string>): Promise<unknown> {
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
  return response.ok ? readJson(response).catch(() => null) : null;
}
