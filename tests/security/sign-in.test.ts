/**
 * Supabase Auth under this origin, and the rights of the console's pages. This file is long because
 * it follows sessions from the code to the sign-out.
 */
import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { askAuth, codeFor, sessionFor } from "../support/harness/auth-session.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { mailsTo } from "../support/harness/mailbox.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

const ask = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  url = stack.url,
) =>
  fetch(`${url}/auth/v1/${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

describe("the auth server under this origin", () => {
  it("signs in, tells who it is, renews and ends the session, and sets no cookie", async () => {
    const email = `${randomUUID()}@example.com`;
    const token = await codeFor(email);
    const answer = await ask("POST", "verify", { email, token, type: "email" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { access_token, refresh_token } = await answer.json();
    const authorization = `Bearer ${access_token}`;
    const known = await (await ask("GET", "user", undefined, { authorization })).json();
    expect(known.email).toBe(email);
    const renewed = await ask("POST", "token?grant_type=refresh_token", { refresh_token });
    expect(renewed.status).toBe(200);
    const keyStatus = async () =>
      (await client({ bearer: access_token }).post("/api/keys", { key_name: "own" })).status;
    expect(await keyStatus()).toBe(201);
    const left = await ask("POST", "logout?scope=local", undefined, { authorization });
    expect(left.status).toBe(204);
    expect(await keyStatus()).toBe(401);
    const late = await ask("POST", "token?grant_type=refresh_token", {
      refresh_token: (await renewed.json()).refresh_token,
    });
    expect(late.status).toBe(400);
  });

  describe("a refresh token", () => {
    const renew = (refresh_token: string) =>
      ask("POST", "token?grant_type=refresh_token", { refresh_token });
    const renewed = async (token: string): Promise<string> => {
      const answer = await renew(token);
      expect(answer.status).toBe(200);
      return registerSecret((await answer.json()).refresh_token, "refresh token");
    };
    const refused = async (token: string) => {
      const answer = await renew(token);
      return [answer.status, (await answer.json()).error_code];
    };
    const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
    /** Puts a token that was replaced just now into the past. */
    const passTime = (token: string) => sql`
      update auth.refresh_tokens set updated_at = now() - interval '11 seconds'
      where token = ${hashOf(token)}`;
    const tokensOf = (email: string) => sql`
      select t.token, t.revoked from auth.refresh_tokens t join auth.users u on u.id = t.user_id
      where u.email = ${email} order by t.revoked`;

    it("is stored as a hash, which renews nothing", async () => {
      const email = `${randomUUID()}@example.com`;
      const { refresh_token } = await sessionFor(email);
      const hash = hashOf(refresh_token);
      expect(await tokensOf(email)).toEqual([{ token: hash, revoked: false }]);
      expect(await refused(hash)).toEqual([400, "refresh_token_not_found"]);
      const next = await renewed(refresh_token);
      expect(await tokensOf(email)).toEqual([
        { token: hashOf(next), revoked: false },
        { token: hash, revoked: true },
      ]);
    });

    it("has one successor, however many renew it at once", async () => {
      const email = `${randomUUID()}@example.com`;
      const { refresh_token } = await sessionFor(email);
      const tabs = await Promise.all(Array.from({ length: 10 }, () => renewed(refresh_token)));
      const [next = ""] = tabs;
      expect(new Set(tabs).size).toBe(1);
      expect(await tokensOf(email)).toHaveLength(2);
      // A lost response is repeated, even when another tab has continued.
      const last = await renewed(next);
      expect(await renewed(refresh_token)).toBe(next);
      expect(await renewed(next)).toBe(last);
      expect(await tokensOf(email)).toHaveLength(3);
    });

    it("that was replaced long ago ends the whole session, also when ten use it at once", async () => {
      const email = `${randomUUID()}@example.com`;
      const { refresh_token, access_token: bearer } = await sessionFor(email);
      const other = await sessionFor(email);
      const next = await renewed(refresh_token);
      expect((await client({ bearer }).get("/api/accounts/me")).status).toBe(200);
      await passTime(refresh_token);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => refused(index % 2 ? refresh_token : next)),
      );
      expect(answers).toContainEqual([400, "refresh_token_already_used"]);
      expect(await refused(next)).toEqual([400, "refresh_token_not_found"]);
      expect((await client({ bearer }).get("/api/accounts/me")).status).toBe(401);
      // Another session of the account stays.
      await renewed(other.refresh_token);
    });

    it("renews nothing after the sign-out, not even within the seconds of a repeat", async () => {
      const { refresh_token, access_token } = await sessionFor();
      const next = await renewed(refresh_token);
      const authorization = `Bearer ${access_token}`;
      const [left] = await Promise.all([
        ask("POST", "logout?scope=local", undefined, { authorization }),
        ...Array.from({ length: 5 }, () => renew(refresh_token)),
      ]);
      expect(left?.status).toBe(204);
      for (const token of [refresh_token, next]) {
        expect(await refused(token)).toEqual([400, "refresh_token_not_found"]);
      }
    });
  });

  it("a deleted account ends its sign-in, and no token from before signs up again", async () => {
    const { email, withBearer } = await createPerson();
    const { access_token: bearer, refresh_token } = await sessionFor(email);
    const signedIn = client({ bearer });
    expect((await signedIn.delete("/api/accounts/me", { body: { confirm: email } })).status).toBe(
      200,
    );
    // The other bearer is of no session.
    for (const late of [signedIn, withBearer, signedIn]) {
      expect((await late.get("/api/accounts/me")).status).toBe(401);
      expect((await late.get("/api/sessions")).status).toBe(401);
    }
    const renewed = await ask("POST", "token?grant_type=refresh_token", { refresh_token });
    expect(renewed.status).toBe(400);
    expect(await sql`select 1 from accounts where email = ${email}`).toEqual([]);
    const kept = await sql`select hash from deleted_identities`;
    expect(JSON.stringify(kept)).not.toContain(email);
  });

  it.each([
    ["POST", "signup"],
    ["POST", "token?grant_type=password"],
    ["PUT", "user"],
    ["POST", "recover"],
    ["POST", "token?grant_type=pkce"],
    ["POST", "token"],
    ["GET", "verify?token=x&type=magiclink"],
    ["GET", "authorize?provider=github"],
    ["GET", "settings"],
    ["POST", "logout?scope=global"],
    ["GET", "admin/users"],
    ["POST", "admin/generate_link"],
    ["POST", "../rest/v1/rpc/account_of_email"],
    ["GET", "user%2f..%2fadmin"],
  ])("404: %s %s is not offered", async (method, path) => {
    expect((await ask(method, path, method === "GET" ? undefined : {})).status).toBe(404);
  });

  it("400, 413: a body that is not what the request needs", async () => {
    for (const [path, body] of [
      ["otp", { email: "nobody" }],
      ["otp", "{"],
      ["otp", []],
      ["verify", { email: "a@example.com", token: "123456", type: "recovery" }],
      ["verify", { token_hash: "x", type: "email" }],
      ["token?grant_type=refresh_token", { refresh_token: { $ne: "" } }],
    ] as const) {
      const answer = await ask("POST", path, body);
      expect(answer.status).toBe(400);
      expect((await answer.json()).error_code).toBe("validation_failed");
    }
    expect((await ask("POST", "otp", { email: "x".repeat(20_000) })).status).toBe(413);
  });

  it("429: too many attempts of one network address, whosever account they are at", async () => {
    const server = await startServer({ env: { SIGNUP_RATE_LIMIT: "20" } });
    const from = { "x-forwarded-for": "203.0.113.200" };
    const attempt = () =>
      ask("POST", "otp", { email: `${randomUUID()}@example.com` }, from, server.url);
    const answers = await Promise.all(Array.from({ length: 30 }, attempt));
    expect(answers.some(({ status }) => status === 429)).toBe(true);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    await server.stop();
  });

  it("a code goes out by mail and works once", async () => {
    const email = `${randomUUID()}@example.com`;
    expect((await ask("POST", "otp", { email })).status).toBe(200);
    const [mail] = await mailsTo(email);
    expect(mail).not.toContain("http");
    const token = /code is (\d+)/.exec(mail ?? "")?.[1] ?? "";
    const verify = () => ask("POST", "verify", { email, token, type: "email" });
    const answers = await Promise.all([verify(), verify()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  it("answers the same to a known and an unknown address", async () => {
    const email = `${randomUUID()}@example.com`;
    await sessionFor(email);
    const wrong = (address: string) =>
      ask("POST", "verify", { email: address, token: "00000000", type: "email" });
    const [known, unknown] = [await wrong(email), await wrong(`${randomUUID()}@example.com`)];
    expect([unknown.status, await unknown.text()]).toEqual([known.status, await known.text()]);
    const code = (address: string) => ask("POST", "otp", { email: address });
    const [old, fresh] = [await code(email), await code(`${randomUUID()}@example.com`)];
    expect([fresh.status, await fresh.text()]).toEqual([old.status, await old.text()]);
  });
});

describe("the embedded auth server itself", () => {
  it("400, 404: signs nobody in by password, and sets none", async () => {
    const email = `${randomUUID()}@example.com`;
    const password = randomUUID();
    const grant = await askAuth("POST", "token?grant_type=password", { email, password });
    expect(grant.status).toBe(400);
    const { access_token: bearer } = await sessionFor(email);
    for (const [method, path] of [
      ["POST", "signup"],
      ["PUT", "user"],
      ["POST", "recover"],
      ["POST", "magiclink"],
      ["GET", "verify?type=magiclink&token=x"],
    ] as const) {
      const body = method === "GET" ? undefined : { email, password };
      expect((await askAuth(method, path, body, { bearer })).status).toBe(404);
    }
  });

  it("401: makes a code that is not mailed for the secret key only", async () => {
    const email = `${randomUUID()}@example.com`;
    const answer = await askAuth("POST", "admin/generate_link", { type: "magiclink", email });
    expect(answer.status).toBe(401);
    const { access_token: bearer } = await sessionFor(email);
    const own = await askAuth(
      "POST",
      "admin/generate_link",
      { type: "magiclink", email },
      { bearer },
    );
    expect(own.status).toBe(401);
  });
});

describe.skipIf(stack.program)("a page of the console", () => {
  const policyOf = (response: Response) =>
    response.headers.get("content-security-policy")?.split("; ") ?? [];

  it("runs only what its nonce names, loads only from here, and is in nobody's frame", async () => {
    const [one, other] = [await fetch(`${stack.url}/keys`), await fetch(`${stack.url}/keys`)];
    const policy = policyOf(one);
    const nonce = policy.find((rule) => rule.startsWith("script-src"))?.split("'")[1] ?? "";
    expect(nonce).toMatch(/^nonce-.{20,}$/);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/);
    expect(policyOf(other)).not.toEqual(policy);
    const html = await one.text();
    for (const [tag] of html.matchAll(/<script[^>]*>/g))
      expect(tag).toContain(`="${nonce.slice(6)}"`);
    expect(html).not.toMatch(/<[^>]+ (style|on\w+)="/);
    expect(one.headers.get("x-content-type-options")).toBe("nosniff");
    expect(one.headers.get("cache-control")).toContain("no-store");
  });

  it("gives up nothing for the documentation", async () => {
    const policy = policyOf(await fetch(`${stack.url}/docs`));
    expect(policy).toContain("connect-src 'self'");
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/);
  });

  it("400, 404: a path that cannot be decoded, and one that is not there", async () => {
    const bad = await fetch(`${stack.url}/keys/%FF`);
    expect([bad.status, bad.headers.get("content-type")]).toEqual([
      400,
      "text/plain; charset=utf-8",
    ]);
    const missing = await fetch(`${stack.url}/not/there`);
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain("Page not found");
    const api = await fetch(`${stack.url}/api/not/there`);
    expect(await api.json()).toEqual({ status: "error", error: "Not found" });
  });

  it("shows the colours that were chosen from the first byte", async () => {
    const themes = async (cookie: string) => {
      const page = await (await fetch(`${stack.url}/`, { headers: { cookie } })).text();
      const [, classes = ""] = /<html[^>]* class="([^"]*)"/.exec(page) ?? [];
      return classes.split(" ").filter((name) => !name.endsWith("_variable"));
    };
    expect(await themes("theme=dark")).toEqual(["dark"]);
    expect(await themes("theme=light")).toEqual(["light"]);
    expect(await themes(`theme="><script>`)).toEqual([]);
  });
});
