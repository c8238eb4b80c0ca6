/** Checks at the identity provider that tokens can be verified and people can sign in. */

import { requestJson } from "@platform/kit/outbound/fetch-json";
import { accepted, describeAnswer, type Probe } from "@platform/kit/outbound/probe";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { z } from "zod";
import type { Config } from "../../platform/config.ts";

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.unknown()) });
const authSettings = z.object({ mailer_autoconfirm: z.boolean() });

/** Returns a finding for each URL and secret; never throws. */
export async function probeIdentity(settings: Config, deadline: AbortSignal): Promise<Probe[]> {
  if (settings.OIDC_ISSUER !== undefined) return [await probeOidc(settings.OIDC_ISSUER, deadline)];
  if (settings.EMBEDDED_SUPABASE) return [];
  const probes = [probeSupabaseKeys, probeSupabaseIssuer, probeSupabaseAuth];
  return (await Promise.all(probes.map((probe) => probe(settings, deadline)))).flat();
}

/** An answer of the identity provider that does not fit the settings. */
const contradiction = (setting: string, detail: string, remedy: string): Probe => ({
  outcome: "address",
  detail,
  settings: [setting],
  remedy,
});

const ask = (url: URL, deadline: AbortSignal, headers: Readonly<Record<string, string>> = {}) =>
  requestJson(url, { vendor: "identity", headers, deadline });

async function probeOidc(issuer: string, deadline: AbortSignal): Promise<Probe> {
  const url = new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const answer = await ask(url, deadline);
  if (answer.kind !== "json") {
    return describeAnswer(url, answer, { credentials: [], address: ["OIDC_ISSUER"] });
  }
  const found = discovery.safeParse(answer.body).data;
  if (found?.issuer === issuer) {
    const keys = new URL(found.jwks_uri);
    const missing = `${keys.host} publishes no keys`;
    return probeKeys(keys, "OIDC_ISSUER", deadline, [missing, "Correct OIDC_ISSUER."]);
  }
  const detail = `the discovery document of ${url.host} is not of OIDC_ISSUER`;
  const remedy = "Set OIDC_ISSUER to the issuer as the provider's discovery document has it.";
  return contradiction("OIDC_ISSUER", detail, remedy);
}

/** @param noKeys the detail and remedy when the provider answers, but has no keys */
async function probeKeys(
  url: URL,
  setting: string,
  deadline: AbortSignal,
  noKeys: readonly [detail: string, remedy: string],
): Promise<Probe> {
  const access = { credentials: [setting], address: [setting] };
  const answer = await ask(url, deadline);
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  const isEmpty = (keySet.safeParse(answer.body).data?.keys.length ?? 0) === 0;
  if (!isEmpty) return { ...accepted(url, access), detail: `${url.host} publishes its keys` };
  return contradiction(setting === "SUPABASE_URL" ? "SUPABASE_JWT_SECRET" : setting, ...noKeys);
}

async function probeSupabaseKeys(
  { SUPABASE_URL, SUPABASE_SECRET_KEY, SUPABASE_JWT_SECRET: secret }: Config,
  deadline: AbortSignal,
): Promise<Probe> {
  const url = new URL("/auth/v1/.well-known/jwks.json", SUPABASE_URL);
  const published = await probeKeys(url, "SUPABASE_URL", deadline, [
    `${url.host} publishes no keys: the project signs tokens with a shared secret`,
    "Set SUPABASE_JWT_SECRET to the project's JWT secret, or let the project sign with asymmetric keys.",
  ]);
  if (secret === undefined) return published;
  if (published.outcome === "accepted") {
    const detail =
      "the project signs tokens with the keys that it publishes, not with SUPABASE_JWT_SECRET";
    return contradiction("SUPABASE_JWT_SECRET", detail, "Remove SUPABASE_JWT_SECRET.");
  }
  if (await contradicts(SUPABASE_SECRET_KEY, secret)) {
    const detail = "the project's secret key is not signed with SUPABASE_JWT_SECRET";
    const remedy = "Set SUPABASE_JWT_SECRET to the JWT secret of the project.";
    return contradiction("SUPABASE_JWT_SECRET", detail, remedy);
  }
  return { outcome: "accepted", detail: "tokens are signed with a shared secret", settings: [] };
}

/** Only the older form of a project's secret key, itself a token, shows which secret signs tokens. */
async function contradicts(secretKey: string, jwtSecret: string): Promise<boolean> {
  try {
    if (decodeProtectedHeader(secretKey).alg !== "HS256") return false;
  } catch {
    return false;
  }
  return jwtVerify(secretKey, new TextEncoder().encode(jwtSecret)).then(
    () => false,
    () => true,
  );
}

/** A project that does not publish its issuer leaves the question open. */
async function probeSupabaseIssuer(
  { SUPABASE_URL, SUPABASE_JWT_ISSUER }: Config,
  deadline: AbortSignal,
): Promise<Probe[]> {
  const url = new URL("/auth/v1/.well-known/openid-configuration", SUPABASE_URL);
  const answer = await ask(url, deadline);
  const found = answer.kind === "json" ? discovery.safeParse(answer.body).data : undefined;
  const expected = SUPABASE_JWT_ISSUER ?? new URL("/auth/v1", SUPABASE_URL).href;
  if (!found || found.issuer === expected) return [];
  const remedy = "Set SUPABASE_JWT_ISSUER to the `iss` of the project's tokens.";
  return [
    contradiction("SUPABASE_JWT_ISSUER", `${url.host} issues tokens as another issuer`, remedy),
  ];
}

async function probeSupabaseAuth(
  { SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY: publicKey, SUPABASE_SECRET_KEY }: Config,
  deadline: AbortSignal,
): Promise<Probe> {
  const url = new URL("/auth/v1/settings", SUPABASE_URL);
  const credentials = [publicKey ? "SUPABASE_PUBLISHABLE_KEY" : "SUPABASE_SECRET_KEY"];
  const access = { credentials, address: ["SUPABASE_URL"] };
  const answer = await ask(url, deadline, { apikey: publicKey ?? SUPABASE_SECRET_KEY });
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  // Anyone who enters an address would get the account of its owner.
  if (authSettings.safeParse(answer.body).data?.mailer_autoconfirm !== true) {
    return accepted(url, access);
  }
  const detail = "the project does not confirm addresses, and anyone can sign up with any";
  const remedy = "Turn on enable_confirmations of the project, as supabase/config.toml does.";
  return contradiction("SUPABASE_URL", detail, remedy);
}
