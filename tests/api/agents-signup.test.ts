import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type FakeSmtp, startFakeSmtp } from "../support/fakes/smtp.ts";
import { expectError, expectErrorShape } from "../support/fixtures/shapes.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { codeSentTo, mailsTo } from "../support/harness/mailbox.ts";
import { startServer } from "../support/harness/server.ts";
import { sql } from "../support/harness/stack.ts";

const accepted = z.strictObject({ status: z.literal("success"), message: z.string() });

const newAddress = (): string => `${randomUUID()}@example.com`;
const signUp = (email: unknown, headers: Record<string, string> = {}, url?: string) =>
  client(null, url).post("/api/agents/signup", { email }, { headers });

describe("200", () => {
  it("a code of six digits goes out by mail, and only its HMAC is stored", async () => {
    const email = newAddress();
    const answer = await signUp(email);
    expect(answer.status, answer.text).toBe(200);
    accepted.parse(answer.body);
    const code = await codeSentTo(email);
    const [row] = await sql`select * from signup_codes where email = ${email}`;
    expect(row?.code_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(code);
    const minutes = (row?.expires_at.getTime() - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(14);
    expect(minutes).toBeLessThanOrEqual(15);
  });

  it("known and unknown addresses get the same bytes, the same mail and no account", async () => {
    const { email: known } = await createPerson();
    const unknown = newAddress();
    const [one, other] = [await signUp(known), await signUp(unknown)];
    expect(one.status).toBe(200);
    expect(one.text).toBe(other.text);
    expect([...one.headers.keys()].sort()).toEqual([...other.headers.keys()].sort());
    expect(await mailsTo(known)).toHaveLength(1);
    expect(await mailsTo(unknown)).toHaveLength(1);
    expect(await sql`select from accounts where email = ${unknown}`).toHaveLength(0);
  });

  it("an address is the same in any case", async () => {
    const email = newAddress();
    await signUp(email.toUpperCase());
    await signUp(email);
    expect(await mailsTo(email)).toHaveLength(2);
    expect(await sql`select from signup_codes where email = ${email}`).toHaveLength(1);
  });

  it("an address gets five mails an hour, even of many requests at once, and the answer stays", async () => {
    const email = newAddress();
    const answers = await Promise.all(Array.from({ length: 12 }, () => signUp(email)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await mailsTo(email)).toHaveLength(5);
    await sql`update code_tries
      set mailed_at = array(select m - interval '1 hour' from unnest(mailed_at) m)
      where email = ${email}`;
    await signUp(email);
    expect(await mailsTo(email)).toHaveLength(6);
  });

  it("a credential that comes along is not looked at", async () => {
    const answer = await signUp(newAddress(), {
      "x-api-key": "nonsense",
      authorization: "Basic x",
    });
    expect(answer.status).toBe(200);
  });
});

describe("429", () => {
  let server: RunningNext;
  beforeAll(async () => {
    server = await startServer({ env: { SIGNUP_RATE_LIMIT: "3" } });
  });
  afterAll(() => server?.stop());

  it("one caller's address asks a few times a minute, for sign-up and verification together", async () => {
    const from = { "x-forwarded-for": "203.0.113.90" };
    for (let left = 2; left >= 1; left--) {
      const answer = await signUp(newAddress(), from, server.url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`^"address";r=${left};t=\\d+$`));
      expect(answer.headers.get("ratelimit-policy")).toBe('"address";q=3;w=60');
    }
    const verify = (headers: Record<string, string>) =>
      client(null, server.url).post(
        "/api/agents/verify",
        { email: newAddress(), code: "123456" },
        { headers },
      );
    expect((await verify(from)).status).toBe(400);
    const email = newAddress();
    for (const refused of [await signUp(email, from, server.url), await verify(from)]) {
      expectError(refused, 429, "error", "Too many requests", "rate_limited");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get("ratelimit-policy")).toBe('"address";q=3;w=60');
    }
    expect(await mailsTo(email)).toEqual([]);
    const other = { "x-forwarded-for": "203.0.113.91" };
    expect((await signUp(email, other, server.url)).status).toBe(200);
  });
});

describe("with a mail server", () => {
  let smtp: FakeSmtp;
  let server: RunningNext;
  const start = (url: string) =>
    startServer({
      env: {
        SMTP_URL: url,
        MAIL_FROM: "Platform <platform@example.com>",
        TEST_CONSTANTS: '{"VENDOR_TIMEOUT_MS":4000}',
      },
    });

  beforeAll(async () => {
    smtp = await startFakeSmtp();
    server = await start(smtp.url);
  });
  afterAll(async () => {
    await server?.stop();
    smtp?.close();
  });

  it("200: the mail goes to that address alone, from the configured sender", async () => {
    const email = newAddress();
    expect((await signUp(email, {}, server.url)).status).toBe(200);
    const mail = smtp.mails.at(-1);
    expect(mail?.from).toBe("platform@example.com");
    expect(mail?.to).toEqual([email]);
    expect(mail?.raw).toMatch(/code is \d{6}/);
  });

  it("200: an address that the mail server refuses is answered like any other", async () => {
    const plain = await signUp(newAddress(), {}, server.url);
    smtp.answer("RCPT TO", 550);
    const refused = await signUp(newAddress(), {}, server.url);
    expect(refused.status).toBe(200);
    expect(refused.text).toBe(plain.text);
  });

  it("502: a mail server that fails, without its words, and the try does not count", async () => {
    smtp.answer("RCPT TO", 451);
    const email = newAddress();
    for (let index = 0; index < 6; index++) {
      const answer = await signUp(email, {}, server.url);
      expectError(answer, 502, "error", "Failed to send the verification code", "upstream_error");
    }
    const [row] = await sql`select code_hash from signup_codes where email = ${email}`;
    expect(row?.code_hash).toBeNull();
    await signUp(email);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  it("504: a mail server that never answers", async () => {
    const mute = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => mute.once("listening", resolve));
    const address = mute.address();
    const waiting = await start(
      `smtp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    );
    const answer = await signUp(newAddress(), {}, waiting.url);
    expect(answer.status).toBe(504);
    expectErrorShape(answer, "error");
    expect(answer.headers.get("x-error-code")).toBe("upstream_timeout");
    await waiting.stop();
    mute.close();
  });
});
