/** Credentials made with `API_KEY_SECRET_PREVIOUS` are accepted, and an API key is then stored again. */

import { createCipheriv, createHmac, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findConfirmation, readUnsubscribeToken } from "../../lib/delivery/tokens.ts";
import { resolveCaller } from "../../lib/identity/credentials/resolve-caller.ts";
import { hashIdentity } from "../../lib/identity/credentials/verify-bearer.ts";
import {
  deriveRunCredential,
  findRunCredential,
} from "../../lib/identity/keys/derive-run-credential.ts";
import { hashKey, newKey } from "../../lib/identity/keys/key-format.ts";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import { openText, sealText } from "../../lib/platform/seal-text.ts";
import { isSecret } from "../../lib/triggers/authenticate-event.ts";
import { startOwnParts } from "../support/harness/stack.ts";

const [OLD, NEXT] = ["o", "n"].map((letter) => letter.repeat(32)) as [string, string];
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
const account = randomUUID();
beforeAll(async () => {
  parts = await startOwnParts();
  const secrets = { API_KEY_SECRET: NEXT, API_KEY_SECRET_PREVIOUS: OLD, LOG_LEVEL: "silent" };
  for (const [name, value] of Object.entries({ ...parts.env, ...secrets })) vi.stubEnv(name, value);
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  await sql`insert into accounts (id, email) values (${account}, 'rotation@example.com')`;
});
afterAll(async () => {
  await sql?.end();
  await parts?.stop();
});

const hmac = (text: string) => createHmac("sha256", OLD).update(text);
const nobody = { account: null, organization: null, artist: null };
const storeKey = (hash: string, scope = "full") =>
  sql`insert into api_keys (account_id, name, hash, prefix, scope)
    values (${account}, 'test', ${hash}, 'ap_1234', ${scope})`;

test("an API key authenticates, and is then stored under the new hash", async () => {
  const { raw, hash } = newKey(OLD);
  await storeKey(hash);
  for (const _ of [1, 2]) {
    const found = await resolveCaller(currentDatabase(), { kind: "key", raw }, nobody, "test");
    expect(found).toMatchObject({ caller: { accountId: account } });
  }
  const rows = await sql`select hash from api_keys where hash in (${hash}, ${hashKey(raw, NEXT)})`;
  expect(rows).toEqual([{ hash: hashKey(raw, NEXT) }]);
  const unknown = await resolveCaller(
    currentDatabase(),
    { kind: "key", raw: newKey(OLD).raw },
    nobody,
    "test",
  );
  expect(unknown).toMatchObject({ code: "unauthorized" });
});

test.each(["key", "bearer"] as const)(
  "a turn keeps the %s that it has begun with",
  async (form) => {
    const [begun, fresh] = [randomUUID(), randomUUID()];
    const own = deriveRunCredential(begun, form, OLD);
    await storeKey(hashKey(own, OLD), "run");
    expect(await findRunCredential(currentDatabase(), account, begun, form)).toBe(own);
    await storeKey(hashKey(deriveRunCredential(fresh, form), NEXT), "run");
    expect(await findRunCredential(currentDatabase(), account, fresh, form)).toBe(
      deriveRunCredential(fresh, form, NEXT),
    );
  },
);

test("a sealed text opens, and neither another's nor a changed one", () => {
  const key = Buffer.from(hkdfSync("sha256", OLD, "", "sealed texts", 32));
  const seal = (with_: Buffer) => {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", with_, iv).setAAD(Buffer.from("context"));
    const bytes = Buffer.concat([cipher.update("text"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString("base64");
  };
  expect(openText(seal(key), "context")).toBe("text");
  expect(openText(sealText("text", "context"), "context")).toBe("text");
  expect(() => openText(seal(key), "another")).toThrow();
  expect(() => openText(seal(randomBytes(32)), "context")).toThrow();
});

test("links in mails and secrets of triggers are known", async () => {
  const hash = hmac("delivery confirmation token").digest("hex");
  const find = async (given: string) => (given === hash ? "found" : null);
  expect(await findConfirmation("token", find)).toBe("found");
  expect(await findConfirmation("other", find)).toBeNull();
  const content = Buffer.concat([
    Buffer.from(account.replaceAll("-", ""), "hex"),
    Buffer.from("a@example.com"),
  ]);
  const signed = createHmac("sha256", OLD).update("delivery unsubscribe ").update(content).digest();
  const token = Buffer.concat([signed.subarray(0, 16), content]).toString("base64url");
  expect(readUnsubscribeToken(token)).toEqual({ accountId: account, address: "a@example.com" });
  const secret = hmac("trigger secret\ngiven").digest("hex");
  expect(isSecret({ id: randomUUID(), signature: null, secret }, "given")).toBe(true);
  expect(isSecret({ id: randomUUID(), signature: null, secret }, "other")).toBe(false);
});

test("a deleted account stays deleted for tokens from before", async () => {
  const email = "deleted@example.com";
  await sql`insert into deleted_identities (hash, deleted_at) values (${hashIdentity(email, OLD)}, now())`;
  const token = { kind: "bearer", email, sessionId: null, issuedAt: new Date(0) } as const;
  expect(await resolveCaller(currentDatabase(), token, nobody, "test")).toMatchObject({
    code: "unauthorized",
  });
});
