/** Bearers: which tokens are taken. This file is long because it tries tokens of two kinds of providers. */
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { parseConfig } from "../../lib/platform/config.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { startIdentityProvider } from "../support/fakes/identity-provider.ts";
import { sessionFor } from "../support/harness/auth-session.ts";
import { client, createBearer } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { setting, sql, stack } from "../support/harness/stack.ts";

const now = () => Math.floor(Date.now() / 1000);
const encoder = new TextEncoder();

describe("a bearer of the shared secret", () => {
  const statusOf = async (bearer: string) => (await client({ bearer }).get("/api/sessions")).status;
  const email = `${randomUUID()}@example.com`;

  it("is taken, whatever the case of the scheme", async () => {
    const bearer = await createBearer(email);
    expect(await statusOf(bearer)).toBe(200);
    for (const scheme of ["bearer", "BEARER"]) {
      const headers = { authorization: `${scheme} ${bearer}` };
      expect((await client().get("/api/sessions", { headers })).status).toBe(200);
    }
  });

  it("is what the embedded Supabase's own auth gives to who signs in there", async () => {
    const email = `${randomUUID()}@example.com`;
    const { access_token } = await sessionFor(email);
    expect(await statusOf(access_token)).toBe(200);
    const accounts = await sql`select 1 from accounts where email = ${email}`;
    expect(accounts).toHaveLength(1);
  });

  it.each([
    ["no expiry", { exp: undefined }],
    ["an expiry of long ago", { exp: now() - 31 }],
    ["a not-before of later", { nbf: now() + 120 }],
    ["no e-mail", { email: undefined }],
    ["an e-mail that is none", { email: "nobody" }],
    ["an e-mail that is not verified", { email_verified: false }],
    ["an e-mail whose verification is text", { email_verified: "False" }],
    ["an expiry that is text", { exp: "tomorrow" }],
    ["an issue time that is no date", { iat: 1e300 }],
    ["an issue time before all dates", { iat: -1e300 }],
    ["an issue time after the year 9999", { iat: 253_402_300_800 }],
    ["an issue time that is text", { iat: "today" }],
    ["no subject", { sub: undefined }],
    ["no issuer", { iss: undefined }],
    ["another issuer", { iss: "https://elsewhere.example/auth/v1" }],
    ["no audience", { aud: undefined }],
    ["another audience", { aud: "another-service" }],
    ["no role", { role: undefined }],
    ["the service's role", { role: "service_role" }],
  ])("is refused with %s", async (_, claims) => {
    expect(await statusOf(await createBearer(email, claims))).toBe(401);
  });

  it("is taken within 30 s of skew", async () => {
    expect(await statusOf(await createBearer(email, { exp: now() - 15 }))).toBe(200);
    expect(await statusOf(await createBearer(email, { nbf: now() + 15 }))).toBe(200);
  });

  it("is refused when its header chooses another algorithm", async () => {
    const claims = {
      iss: setting("SUPABASE_JWT_ISSUER"),
      aud: "authenticated",
      role: "authenticated",
      sub: "x",
      email,
      exp: now() + 600,
    };
    const secret = encoder.encode(setting("SUPABASE_JWT_SECRET"));
    const { privateKey } = await generateKeyPair("RS256");
    for (const token of [
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims).setProtectedHeader({ alg: "HS512" }).sign(secret),
      await new SignJWT(claims).setProtectedHeader({ alg: "RS256" }).sign(privateKey),
      await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256" })
        .sign(encoder.encode("another secret of more than 32 characters")),
    ]) {
      expect(await statusOf(token)).toBe(401);
    }
  });

  it("of the service itself, the secret key of Supabase, is no person", async () => {
    expect(await statusOf(setting("SUPABASE_SECRET_KEY"))).toBe(401);
    expect(await statusOf(setting("SUPABASE_PUBLISHABLE_KEY"))).toBe(401);
  });
});

describe("a bearer of an OIDC provider", () => {
  let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
  let server: RunningNext;
  const answerTo = (bearer: string) => client({ bearer }, server.url).get("/api/sessions");
  const statusOf = async (bearer: string) => (await answerTo(bearer)).status;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    server = await startServer({ env: provider.env });
  });
  afterAll(async () => {
    await server?.stop();
    await provider?.close();
  });

  it("is refused with a key of 1,024 bits, which the provider has published", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const kid = randomUUID();
    provider.publish({ ...publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" });
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = {
      ...{ iss: provider.issuer, aud: provider.audience, sub: "person", exp: now() + 600 },
      ...{ email: `${randomUUID()}@example.com`, email_verified: true },
    };
    const signed = `${encoded({ alg: "RS256", kid })}.${encoded(claims)}`;
    const signature = sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
    expect(await statusOf(`${signed}.${signature}`)).toBe(401);
  });

  it("is never verified without an audience: the settings are refused", () => {
    const env = { ...stack.env, OIDC_ISSUER: provider.issuer };
    expect(() => parseConfig(env)).toThrow("OIDC_AUDIENCE");
  });

  it("is taken, and its e-mail gets an account", async () => {
    const email = `${randomUUID()}@Example.com`;
    expect(await statusOf(await provider.sign({ email, email_verified: true }))).toBe(200);
    const accounts = await sql`select 1 from accounts where email = ${email.toLowerCase()}`;
    expect(accounts).toHaveLength(1);
  });

  it("is taken when its e-mail is verified by the word, as some providers write it", async () => {
    const email = `${randomUUID()}@example.com`;
    expect(await statusOf(await provider.sign({ email, email_verified: "true" }))).toBe(200);
  });

  it.each([
    ["another issuer", { iss: "https://elsewhere.example" }],
    ["no issuer", { iss: undefined }],
    ["another audience", { aud: "another-service" }],
    ["no audience", { aud: undefined }],
    ["no expiry", { exp: undefined }],
    ["an expiry of long ago", { exp: now() - 60 }],
    ["an e-mail that is not verified", { email_verified: false }],
    ["an e-mail whose verification is text", { email_verified: "True" }],
    ["an e-mail whose verification is a number", { email_verified: 1 }],
    ["an e-mail whose verification is null", { email_verified: null }],
    ["an e-mail of which it does not say that it is verified", { email_verified: undefined }],
  ])("is refused with %s", async (_, claims) => {
    expect(await statusOf(await provider.sign(claims))).toBe(401);
  });

  it("that does not say whether its e-mail is verified takes what userinfo says", async () => {
    const email = `${randomUUID()}@example.com`;
    const token = await provider.sign({ email, email_verified: undefined, jti: randomUUID() });
    provider.setProfile(token, { sub: "person", email, email_verified: true });
    expect(await statusOf(token)).toBe(200);
  });

  it("is taken without that claim where the settings say so, and refused where it is false", async () => {
    const another = await startServer({
      env: {
        OIDC_ISSUER: provider.issuer,
        OIDC_AUDIENCE: provider.audience,
        OIDC_EMAIL_VERIFIED_BY_DEFAULT: "true",
      },
    });
    try {
      const there = async (claims: object) =>
        (
          await client({ bearer: await provider.sign({ ...claims }) }, another.url).get(
            "/api/sessions",
          )
        ).status;
      expect(await there({ email_verified: undefined })).toBe(200);
      expect(await there({ email_verified: false })).toBe(401);
      expect(await there({ email_verified: "False" })).toBe(401);
    } finally {
      await another.stop();
    }
  });

  it("leaves the console without a sign-in: another issuer's session would open nothing", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.url}/auth/v1/otp`, {
      method: "POST",
      headers,
      body: "{}",
    });
    expect(answer.status).toBe(501);
    expect((await answer.json()).error_code).toBe("not_configured");
  });

  it("is refused when signed with the shared secret, with the public key as a secret, or not at all", async () => {
    const claims = {
      iss: provider.issuer,
      aud: provider.audience,
      sub: "x",
      email: `${randomUUID()}@example.com`,
      exp: now() + 600,
    };
    const withSecret = (secret: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(encoder.encode(secret));
    expect(await statusOf(await withSecret(setting("SUPABASE_JWT_SECRET")))).toBe(401);
    expect(await statusOf(await withSecret(provider.publicKey()))).toBe(401);
    expect(await statusOf(new UnsecuredJWT(claims).encode())).toBe(401);
  });

  it("is refused when it brings its own key", async () => {
    const { privateKey } = await generateKeyPair("ES256");
    const token = await new SignJWT({ email: "x@example.com", exp: now() + 600 })
      .setProtectedHeader({ alg: "ES256", jku: `${provider.issuer}/jwks`, kid: randomUUID() })
      .sign(privateKey);
    expect(await statusOf(token)).toBe(401);
  });

  it("without an e-mail takes the one of userinfo, asked once a token", async () => {
    const email = `${randomUUID()}@example.com`;
    const token = await provider.sign({
      email: undefined,
      email_verified: undefined,
      jti: randomUUID(),
    });
    provider.setProfile(token, { sub: "person", email, email_verified: true });
    const before = provider.count("/userinfo");
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(token)).toBe(200);
    expect(provider.count("/userinfo")).toBe(before + 1);
    expect(await sql`select 1 from accounts where email = ${email}`).toHaveLength(1);
  });

  it.each([
    ["another person's profile", { sub: "someone else", email: "x@example.com" }],
    ["an unverified e-mail", { sub: "person", email: "x@example.com", email_verified: false }],
    [
      "text for its verification",
      { sub: "person", email: "x@example.com", email_verified: "False" },
    ],
    ["nothing of its verification", { sub: "person", email: "x@example.com" }],
    ["no e-mail", { sub: "person" }],
  ])("is refused when userinfo gives %s", async (_, profile) => {
    const token = await provider.sign({
      email: undefined,
      email_verified: undefined,
      jti: randomUUID(),
    });
    provider.setProfile(token, profile);
    expect(await statusOf(token)).toBe(401);
  });

  it("of a key rotated in is taken, and of a key rotated out no longer trusted by a new server, which answers 503, not 401, while the provider cannot be asked", async () => {
    const old = await provider.sign();
    expect(await statusOf(old)).toBe(200);
    await provider.addKey();
    const fresh = await provider.sign();
    // Keys are asked for again at most once a second.
    await expect.poll(() => statusOf(fresh)).toBe(200);
    expect(await statusOf(old)).toBe(200);
    provider.dropOldKeys();
    const another = await startServer({ env: provider.env });
    const there = async (bearer: string) => client({ bearer }, another.url).get("/api/sessions");
    try {
      provider.fail({ status: 503, body: "{}" });
      const answer = await there(fresh);
      expect(answer.status).toBe(503);
      expect(z.object({ error: z.string() }).parse(answer.body).error).toBe(
        "Service temporarily unavailable",
      );
      expect((await client(null, another.url).get("/api/health/ready")).status).toBe(503);
      provider.recover();
      expect((await there(fresh)).status).toBe(200);
      expect((await there(old)).status).toBe(401);
    } finally {
      provider.recover();
      await another.stop();
    }
  });
});

describe("with a hosted Supabase and no shared secret", () => {
  it("a bearer is verified by the project's own keys", async () => {
    const provider = await startIdentityProvider("/auth/v1");
    const env = { SUPABASE_URL: provider.origin, SUPABASE_JWT_SECRET: "", SUPABASE_JWT_ISSUER: "" };
    // There is no database, so the check that refuses to start without one is off.
    const server = await startServer({ env: { ...env, CHECK_START: "false" } });
    try {
      const statusOf = async (bearer: string) =>
        (await client({ bearer }, server.url).get("/api/sessions")).status;
      expect(await statusOf(await createBearer("someone@example.com"))).toBe(401);
      const claims = { aud: "authenticated", role: "authenticated", email_verified: undefined };
      for (const wrong of [
        { aud: "another" },
        { iss: "https://elsewhere.example/auth/v1" },
        { role: "anon" },
        { role: undefined },
        { email: undefined },
        { email_verified: "False" },
      ]) {
        expect(await statusOf(await provider.sign({ ...claims, ...wrong }))).toBe(401);
      }
      // Verified: what fails now is the database, which is not there.
      expect(await statusOf(await provider.sign(claims))).toBe(500);
    } finally {
      await server.stop();
      await provider.close();
    }
  });
});
