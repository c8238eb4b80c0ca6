/** Guessing at mailed codes: strangers use up the tries of strangers, and there are few of those. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { codeFor } from "../support/harness/auth-session.ts";
import { client } from "../support/harness/clients.ts";
import { codeSentTo, mailsTo, wrongCode } from "../support/harness/mailbox.ts";
import { admin, stack } from "../support/harness/stack.ts";

const newEmail = () => `${randomUUID()}@example.com`;
/** A network address that no other test has. */
let used = 0;
const newAddress = () => `198.51.${100 + (++used >> 8)}.${used & 255}`;

interface Codes {
  /** Asks for a code from this network address. */
  ask(email: string, from: string): Promise<number>;
  sent(email: string): Promise<string>;
  guess(email: string, code: string, from: string): Promise<number>;
}

const signUp: Codes = {
  async ask(email, from) {
    const headers = { "x-forwarded-for": from };
    return (await client().post("/api/agents/signup", { email }, { headers })).status;
  },
  sent: (email) => codeSentTo(email),
  async guess(email, code, from) {
    const headers = { "x-forwarded-for": from };
    return (await client().post("/api/agents/verify", { email, code }, { headers })).status;
  },
};

async function askAuth(path: string, body: object, from: string): Promise<number> {
  const answer = await fetch(`${stack.url}/auth/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": from },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const signIn: Codes = {
  ask: (email, from) => askAuth("otp", { email }, from),
  sent: async (email) =>
    /code is (\d{8})/.exec((await mailsTo(email)).at(-1) ?? "")?.[1] ?? "no mail",
  guess: (email, token, from) => askAuth("verify", { email, token, type: "email" }, from),
};

const wrongFor = (code: string) =>
  wrongCode(code).padStart(code.length, code[0] === "9" ? "1" : "9");

describe.each([
  ["sign-up", signUp, 400],
  ["the console's sign-in", signIn, 403],
] as const)("a code of %s", (_, codes, wrongStatus) => {
  it("still works for who asked for it after one stranger's wrong guesses", async () => {
    const [email, owner, stranger] = [newEmail(), newAddress(), newAddress()];
    expect(await codes.ask(email, owner)).toBe(200);
    const code = await codes.sent(email);
    const guesses: number[] = [];
    for (let index = 0; index < 8; index++) {
      guesses.push(await codes.guess(email, wrongFor(code), stranger));
    }
    expect(guesses).toEqual([...Array(5).fill(wrongStatus), 429, 429, 429]);
    expect(await codes.guess(email, code, owner)).toBe(200);
  });

  it("is guessed at ten times at most, from however many addresses, and still works", async () => {
    const [email, owner] = [newEmail(), newAddress()];
    expect(await codes.ask(email, owner)).toBe(200);
    const code = await codes.sent(email);
    const strangers = await Promise.all(
      Array.from({ length: 30 }, () => codes.guess(email, wrongFor(code), newAddress())),
    );
    expect(strangers.filter((status) => status === wrongStatus)).toHaveLength(5);
    expect(strangers.filter((status) => status === 429)).toHaveLength(25);
    // The right code is not taken from them either.
    expect(await codes.guess(email, code, newAddress())).toBe(429);
    expect(await codes.guess(email, wrongFor(code), owner)).toBe(wrongStatus);
    expect(await codes.guess(email, code, owner)).toBe(200);
  });

  it("is dead for its owner, too, after five wrong guesses of the owner's own", async () => {
    const [email, owner] = [newEmail(), newAddress()];
    await codes.ask(email, owner);
    const code = await codes.sent(email);
    for (let index = 0; index < 5; index++) {
      expect(await codes.guess(email, wrongFor(code), owner)).toBe(wrongStatus);
    }
    expect(await codes.guess(email, code, owner)).toBe(429);
    await codes.ask(email, owner);
    expect(await codes.guess(email, await codes.sent(email), owner)).toBe(200);
  });

  it("works for its owner though a stranger replaced it and guessed at the new one", async () => {
    const [email, owner, stranger] = [newEmail(), newAddress(), newAddress()];
    await codes.ask(email, owner);
    for (let mail = 0; mail < 6; mail++) {
      await codes.ask(email, stranger);
      for (let index = 0; index < 2; index++) {
        await codes.guess(email, wrongFor(await codes.sent(email)), stranger);
      }
    }
    // The stranger got four mails of the five; the newest code is the owner's to use.
    expect(await mailsTo(email)).toHaveLength(5);
    expect(await codes.guess(email, await codes.sent(email), owner)).toBe(200);
  });

  it("can be asked for by its owner though a stranger asks all the time", async () => {
    const [email, owner, stranger] = [newEmail(), newAddress(), newAddress()];
    for (let mail = 0; mail < 6; mail++) await codes.ask(email, stranger);
    expect(await mailsTo(email)).toHaveLength(4);
    expect(await codes.ask(email, owner)).toBe(200);
    expect(await mailsTo(email)).toHaveLength(5);
    expect(await codes.guess(email, await codes.sent(email), owner)).toBe(200);
  });
});

/**
 * Requests that a page of another site can make a browser send: without a preflight, from the
 * person's address.
 */
const foreign: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["cross-site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
  ["same-site", { "sec-fetch-site": "same-site", origin: "http://evil.localhost:1" }],
  ["an older browser", { origin: "https://evil.example" }],
  ["a sandboxed frame", { origin: "null" }],
];
describe.each(foreign)("a page of another origin (%s)", (_, disguise) => {
  const send = async (path: string, body: object, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(stack.url + path, {
      method: "POST",
      headers: { "content-type": "text/plain", ...headers },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  };

  it("sends no mail and makes no guess at the console's sign-in", async () => {
    const [email, owner] = [newEmail(), newAddress()];
    const headers = { ...disguise, "x-forwarded-for": owner };
    expect(await signIn.ask(email, owner)).toBe(200);
    const code = await signIn.sent(email);
    for (let index = 0; index < 6; index++) {
      expect(await send("/auth/v1/otp", { email }, headers)).toBe(403);
      const guess = { email, token: wrongFor(code), type: "email" };
      expect(await send("/auth/v1/verify", guess, headers)).toBe(403);
    }
    expect(await mailsTo(email)).toHaveLength(1);
    expect(await signIn.guess(email, code, owner)).toBe(200);
  });

  it("uses up neither the mails nor the tries of who visits it at sign-up", async () => {
    const [email, owner] = [newEmail(), newAddress()];
    const headers = { ...disguise, "x-forwarded-for": owner };
    for (let mail = 0; mail < 6; mail++) await send("/api/agents/signup", { email }, headers);
    expect(await mailsTo(email)).toHaveLength(4);
    expect(await signUp.ask(email, owner)).toBe(200);
    expect(await mailsTo(email)).toHaveLength(5);
    const code = await signUp.sent(email);
    for (let index = 0; index < 6; index++) {
      await send("/api/agents/verify", { email, code: wrongFor(code) }, headers);
    }
    expect(await signUp.guess(email, code, owner)).toBe(200);
  });
});

it.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/jsonp",
  "",
])("sign-in takes no body of the type %j", async (type) => {
  const answer = await fetch(`${stack.url}/auth/v1/otp`, {
    method: "POST",
    headers: { "content-type": type, "x-forwarded-for": newAddress() },
    body: JSON.stringify({ email: newEmail() }),
  });
  expect(answer.status).toBe(415);
});

it("guesses at the console's codes end alike where nobody asked for a code", async () => {
  const [known, unknown] = [newEmail(), newEmail()];
  await codeFor(known);
  for (const email of [known, unknown]) {
    const statuses: number[] = [];
    for (let index = 0; index < 6; index++) {
      statuses.push(await signIn.guess(email, "00000000", newAddress()));
    }
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
  }
});

it("a mail that the auth server refuses brings no new guesses at the code before", async () => {
  const [email, source] = [newEmail(), newAddress()];
  const step = async (name: string, from = source): Promise<unknown> => {
    const args = { p_purpose: "sign-in", p_email: email, p_source: from };
    const { data, error } = await admin.rpc(name, args);
    if (error) throw error;
    return data;
  };
  await step("count_code_mail");
  await step("grant_code_tries");
  for (let index = 0; index < 5; index++) {
    expect(await step("take_code_try")).toBe(true);
    expect(await step("take_code_try", newAddress())).toBe(true);
  }
  for (const from of [source, newAddress()]) {
    expect(await step("count_code_mail", from)).toBe(true);
    await step("withdraw_code_mail", from);
    expect(await step("take_code_try", from)).toBe(false);
  }
});
