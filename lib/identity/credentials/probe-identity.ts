/** Checks at the identity provider that tokens can be verified and people can sign in. */
import { decodeProtectedHeader, jwtVerify } from "jose";
import { z } from "zod";
import type { Config } from "../../platform/config.ts";
import { requestJson } from "../../platform/outbound/fetch-json.ts";
import {
  type Access,
  accepted,
  describeAnswer,
  type Probe,
} from "../../platform/outbound/probe.ts";

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.unknown()) });
const authSettings = z.object({ mailer_autoconfirm: z.boolean() });

/** Returns a finding for each URL and secret; never throws. */
export async function probeIdentity(settings: Config, deadline: AbortSignal): Promise<Probe[]> {
  if (settings.OIDC_ISSUER !== undefined) return [await probeOidc(settings.OIDC_ISSUER, deadline)];
  if (settings.EMBEDDED_SUPABASE) return [];
  return (
    await Promise.all([
      probeSupabaseKeys(settings, deadline),
      probeSupabaseIssuer(settings, deadline),
      probeSupabaseAuth(settings, deadline),
    ])
  ).flat();
}

/** An answer of the identity provider that does not fit the settings. */
const contradiction = (detail: string, setting: string, remedy: string): Probe => ({
  outcome: "address",
  detail,
  settings: [setting],
  remedy,
});

async function probeOidc(issuer: string, deadline: AbortSignal): Promise<Probe> {
  const access = { credentials: [], address: ["OIDC_ISSUER"] };
  const url = new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const answer = await requestJson(url, { vendor: "identity", headers: {}, deadline });
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  const found = discovery.safeParse(answer.body).data;
  if (found?.issuer !== issuer) {
    const detail = `the discovery document of ${url.host} is not of OIDC_ISSUER`;
    const remedy = "Set OIDC_ISSUER to the issuer as the provider's discovery document has it.";
    return contradiction(detail, "OIDC_ISSUER", remedy);
  }
  return probeKeys(new URL(found.jwks_uri), "OIDC_ISSUER", deadline);
}

/** @param noKeys the remedy when the provider answers, but has no keys */
async function probeKeys(
  url: URL,
  setting: string,
  deadline: AbortSignal,
  noKeys = contradiction(`${url.host} publishes no keys`, setting, `Correct ${setting}.`),
): Promise<Probe> {
  const access = { credentials: [setting], address: [setting] };
  const answer = await requestJson(url, { vendor: "identity", headers: {}, deadline });
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  const count = keySet.safeParse(answer.body).data?.keys.length ?? 0;
  return count === 0
    ? noKeys
    : { ...accepted(url, access), detail: `${url.host} publishes its keys` };
}

async function probeSupabaseKeys(
  { SUPABASE_URL, SUPABASE_SECRET_KEY, SUPABASE_JWT_SECRET: secret }: Config,
  deadline: AbortSignal,
): Promise<Probe> {
  const url = new URL("/auth/v1/.well-known/jwks.json", SUPABASE_URL);
  const published = probeKeys(
    url,
    "SUPABASE_URL",
    deadline,
    contradiction(
      `${url.host} publishes no keys: the project signs tokens with a shared secret`,
      "SUPABASE_JWT_SECRET",
      "Set SUPABASE_JWT_SECRET to the project's JWT secret, or let the project sign with asymmetric keys.",
    ),
  );
  if (secret === undefined) return published;
  if ((await published).outcome === "accepted") {
    return contradiction(
      "the project signs tokens with the keys that it publishes, not with SUPABASE_JWT_SECRET",
      "SUPABASE_JWT_SECRET",
      "Remove SUPABASE_JWT_SECRET.",
    );
  }
  if (await contradicts(SUPABASE_SECRET_KEY, secret)) {
    return contradiction(
      "the project's secret key is not signed with SUPABASE_JWT_SECRET",
      "SUPABASE_JWT_SECRET",
      "Set SUPABASE_JWT_SECRET to the JWT secret of the project.",
    );
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
  const answer = await requestJson(url, { vendor: "identity", headers: {}, deadline });
  const found = answer.kind === "json" ? discovery.safeParse(answer.body).data : undefined;
  const expected = SUPABASE_JWT_ISSUER ?? new URL("/auth/v1", SUPABASE_URL).href;
  if (!found || found.issuer === expected) return [];
  const remedy = "Set SUPABASE_JWT_ISSUER to the `iss` of the project's tokens.";
  const detail = `${url.host} issues tokens as another issuer`;
  return [contradiction(detail, "SUPABASE_JWT_ISSUER", remedy)];
}

async function probeSupabaseAuth(
  { SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY }: Config,
  deadline: AbortSignal,
): Promise<Probe[]> {
  const url = new URL("/auth/v1/settings", SUPABASE_URL);
  const key = SUPABASE_PUBLISHABLE_KEY ?? SUPABASE_SECRET_KEY;
  const access: Access = {
    credentials: [SUPABASE_PUBLISHABLE_KEY ? "SUPABASE_PUBLISHABLE_KEY" : "SUPABASE_SECRET_KEY"],
    address: ["SUPABASE_URL"],
  };
  const answer = await requestJson(url, { vendor: "identity", headers: { apikey: key }, deadline });
  if (answer.kind !== "json") return [describeAnswer(url, answer, access)];
  // Anyone who enters an address would get the account of its owner.
  if (authSettings.safeParse(answer.body).data?.mailer_autoconfirm === true) {
    const detail = "the project does not confirm addresses, so that anyone can sign up with any";
    const remedy = "Turn on enable_confirmations of the project, as supabase/config.toml does.";
    return [contradiction(detail, "SUPABASE_URL", remedy)];
  }
  return [accepted(url, access)];
}
