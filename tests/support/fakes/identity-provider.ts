import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { HttpResponse, http } from "msw";
import { serveHandlers } from "./vendor-server.ts";

type Profile = Readonly<Record<string, unknown>>;

const AUDIENCE = "agent-platform";

/** Starts an OIDC provider on loopback, under `base`: discovery, keys that can be rotated, userinfo. */
export async function startIdentityProvider(base = "") {
  let keys: { kid: string; privateKey: CryptoKey; jwk: object }[] = [];
  const profiles = new Map<string, Profile>();

  const addKey = async (): Promise<string> => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const kid = randomUUID();
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" };
    keys = [{ kid, privateKey, jwk }, ...keys];
    return kid;
  };
  await addKey();

  const published: object[] = [];
  const keySet = () => HttpResponse.json({ keys: [...keys.map(({ jwk }) => jwk), ...published] });
  const server = await serveHandlers([
    http.get(`${base}/.well-known/openid-configuration`, ({ request }) => {
      const issuer = new URL(request.url).origin + base;
      const endpoints = { jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/userinfo` };
      return HttpResponse.json({ issuer, ...endpoints });
    }),
    http.get(`${base}/jwks`, keySet),
    http.get(`${base}/.well-known/jwks.json`, keySet),
    http.get(`${base}/userinfo`, ({ request }) => {
      const profile = profiles.get(request.headers.get("authorization") ?? "");
      return HttpResponse.json(profile ?? {}, { status: profile ? 200 : 401 });
    }),
  ]);
  const issuer = server.origin + base;

  return {
    ...server,
    issuer,
    audience: AUDIENCE,
    /** The settings that make a server of the product accept its tokens. */
    env: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: AUDIENCE },
    /** Signs a token with the newest key; a claim given as undefined is left out. */
    async sign(claims: Profile = {}, header: object = {}): Promise<string> {
      const [key] = keys;
      if (!key) throw new Error("no key");
      const now = Math.floor(Date.now() / 1000);
      const person = { sub: "person", email: `${randomUUID()}@example.com`, email_verified: true };
      const times = { iat: now, exp: now + 600 };
      return new SignJWT({ iss: issuer, aud: AUDIENCE, ...person, ...times, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: key.kid, ...header })
        .sign(key.privateKey);
    },
    addKey,
    /** Publishes a key that signs no tokens of `sign`. */
    publish: (jwk: object) => void published.push(jwk),
    /** Drops all keys but the newest. */
    dropOldKeys(): void {
      keys = keys.slice(0, 1);
    },
    publicKey: () => JSON.stringify(keys[0]?.jwk),
    /** Sets what userinfo answers to this token. */
    setProfile(token: string, profile: Profile): void {
      profiles.set(`Bearer ${token}`, profile);
    },
  };
}
