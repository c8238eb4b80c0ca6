import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

type Profile = Readonly<Record<string, unknown>>;

/** An OIDC provider on loopback, under `base`: discovery, keys that can be rotated, userinfo. */
export async function startIdentityProvider(base = "") {
  let keys: { kid: string; privateKey: CryptoKey; jwk: object }[] = [];
  const profiles = new Map<string, Profile>();
  let userinfoCalls = 0;
  let down = false;
  let issuer = "";

  const addKey = async (): Promise<string> => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const kid = randomUUID();
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" };
    keys = [{ kid, privateKey, jwk }, ...keys];
    return kid;
  };
  await addKey();

  const server = createServer((request, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (down) return answer(503, {});
    switch (request.url) {
      case `${base}/.well-known/openid-configuration`:
        return answer(200, {
          issuer,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/userinfo`,
        });
      case `${base}/jwks`:
      case `${base}/.well-known/jwks.json`:
        return answer(200, { keys: keys.map(({ jwk }) => jwk) });
      case `${base}/userinfo`: {
        userinfoCalls++;
        const profile = profiles.get(request.headers.authorization ?? "");
        return profile ? answer(200, profile) : answer(401, {});
      }
      default:
        return answer(404, {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  issuer = origin + base;

  return {
    origin,
    issuer,
    audience: "agent-platform",
    /** Signed with the newest key; a claim given as undefined is left out. */
    async sign(
      claims: Readonly<Record<string, unknown>> = {},
      header: object = {},
    ): Promise<string> {
      const [key] = keys;
      if (!key) throw new Error("no key");
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({
        iss: issuer,
        aud: "agent-platform",
        sub: "person",
        email: `${randomUUID()}@example.com`,
        email_verified: true,
        iat: now,
        exp: now + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: "ES256", kid: key.kid, ...header })
        .sign(key.privateKey);
    },
    addKey,
    /** Keeps the newest key only. */
    dropOldKeys(): void {
      keys = keys.slice(0, 1);
    },
    publicKey: () => JSON.stringify(keys[0]?.jwk),
    /** What userinfo answers to this token. */
    setProfile(token: string, profile: Profile): void {
      profiles.set(`Bearer ${token}`, profile);
    },
    userinfoCalls: () => userinfoCalls,
    setDown(value: boolean): void {
      down = value;
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
