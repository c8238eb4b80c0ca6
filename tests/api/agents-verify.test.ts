import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isWellFormedKey } from "../../lib/identity/keys/key-format.ts";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { codeSentTo, wrongCode } from "../support/harness/mailbox.ts";
import { sql } from "../support/harness/stack.ts";

const verified = z.strictObject({
  status: z.literal("success"),
  account_id: z.uuid(),
  api_key: z.string(),
});
const invalid = { status: "error", error: "Invalid or expired verification code" };
const dead = { status: "error", error: "Too many failed verification attempts" };

async function signUp(email = `${randomUUID()}@example.com`) {
  const answer = await client().post("/api/agents/signup", { email });
  expect(answer.status, answer.text).toBe(200);
  return { email, code: await codeSentTo(email) };
}
const verify = (body: unknown) => client().post("/api/agents/verify", body);
const countsOf = (answers: readonly { status: number }[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, list]) => [
      status,
      list.length,
    ]),
  );

describe("200", () => {
  it("makes the account of an unknown address, with a key that works at once", async () => {
    const { email, code } = await signUp();
    const answer = await verify({ email, code });
    expect(answer.status, answer.text).toBe(200);
    const { account_id, api_key } = verified.parse(answer.body);
    expect(isWellFormedKey(api_key)).toBe(true);
    const accounts = await sql`select id, kind from accounts where email = ${email}`;
    expect(accounts.map((row) => ({ ...row }))).toEqual([{ id: account_id, kind: "personal" }]);
    const keys = await client({ key: api_key }).get("/api/keys");
    expect(keys.status).toBe(200);
    expect(keys.body).toMatchObject({ keys: [{ key_name: "Sign-up", expires_at: null }] });
    const [row] = await sql`select * from api_keys where account_id = ${account_id}`;
    expect(JSON.stringify(row)).not.toContain(api_key.slice(7));
  });

  it("gives a known address its own account and one more key", async () => {
    const person = await createPerson();
    const { code } = await signUp(person.email);
    const answer = await verify({ email: person.email.toUpperCase(), code: ` ${code} ` });
    expect(verified.parse(answer.body).account_id).toBe(person.id);
    expect((await person.withKey.get("/api/keys")).status).toBe(200);
    expect(await sql`select from api_keys where account_id = ${person.id}`).toHaveLength(2);
  });

  it("once: twenty verifications with one code make one account and one key", async () => {
    const { email, code } = await signUp();
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify({ email, code })));
    expect(countsOf(answers)).toEqual({ 200: 1, 400: 19 });
    for (const { status, body } of answers) if (status === 400) expect(body).toEqual(invalid);
    const keys = await sql`
      select k.id from api_keys k join accounts a on a.id = k.account_id where a.email = ${email}`;
    expect(keys).toHaveLength(1);
  });
});

describe("400", () => {
  it("a wrong code, an unused address and a used code get the same answer", async () => {
    const { email, code } = await signUp();
    const wrong = await verify({ email, code: wrongCode(code) });
    const never = await verify({ email: `${randomUUID()}@example.com`, code });
    expect((await verify({ email, code })).status).toBe(200);
    const used = await verify({ email, code });
    for (const answer of [wrong, never, used]) {
      expect(answer.status).toBe(400);
      expectErrorShape(answer, "error");
      expect(answer.body).toEqual(invalid);
      expect(answer.headers.get("x-error-code")).toBe("invalid_request");
      expect([...answer.headers.keys()].sort()).toEqual([...wrong.headers.keys()].sort());
    }
  });

  it("a wrong code makes no account", async () => {
    const { email, code } = await signUp();
    await verify({ email, code: wrongCode(code) });
    expect(await sql`select from accounts where email = ${email}`).toHaveLength(0);
  });

  it("a code that a newer one has replaced", async () => {
    const first = await signUp();
    const second = await signUp(first.email);
    // Two codes are equal once in a million, which proves nothing.
    if (first.code !== second.code) expect((await verify(first)).body).toEqual(invalid);
    expect((await verify(second)).status).toBe(200);
  });

  it("a code after its 15 minutes, dead or not", async () => {
    const { email, code } = await signUp();
    await sql`update signup_codes set expires_at = now() where email = ${email}`;
    await sql`update code_tries set tries_left = 0 where email = ${email}`;
    const answer = await verify({ email, code });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(invalid);
  });

  it("another address's code", async () => {
    const [one, other] = [await signUp(), await signUp()];
    if (one.code === other.code) return;
    expect((await verify({ email: one.email, code: other.code })).body).toEqual(invalid);
  });
});

describe("429", () => {
  it("the count is exact when wrong tries race", async () => {
    const { email, code } = await signUp();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => verify({ email, code: wrongCode(code) })),
    );
    expect(countsOf(answers)).toEqual({ 400: 5, 429: 15 });
    const late = await verify({ email, code });
    expect([late.status, late.body]).toEqual([429, dead]);
    expect(late.headers.get("x-error-code")).toBe("too_many_attempts");
  });
});
