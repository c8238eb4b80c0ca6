/**
 * The search that ends every run of the tests can fail: what is planted where the service keeps
 * things is found, in every form.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newKey } from "../../lib/identity/keys/key-format.ts";
import { setting, sql } from "../support/harness/stack.ts";
import { essenceOf, formsOf } from "../support/secrets/forms.ts";
import { noteCode, noteDisguised, noteSecret, noteSettings } from "../support/secrets/known.ts";
import { StorageSearch } from "../support/secrets/search-storage.ts";
import { TraceSearch } from "../support/secrets/trace-search.ts";

/** Not the records of the run: its own search would fail. */
let records: string;
let dataDir: string;
const schema = `traces_${randomUUID().replaceAll("-", "")}`;
const key = newKey("x".repeat(32)).raw;
const password = randomBytes(24).toString("base64");
let bearer: string;

beforeAll(async () => {
  records = await mkdtemp(join(tmpdir(), "agent-platform-records-"));
  dataDir = await mkdtemp(join(tmpdir(), "agent-platform-data-"));
  bearer = await new SignJWT({ email: "ada@example.com" })
    .setProtectedHeader({ alg: "HS256" })
    .sign(randomBytes(32));
  noteSecret(records, { secret: key, kind: "API key" });
  noteSecret(records, { secret: bearer, kind: "bearer" });
  noteSettings(records, {
    SMTP_URL: `smtps://mailer:${encodeURIComponent(password)}@mail.example.com`,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_0123456789",
  });
  await sql.unsafe(
    `create schema ${schema}; create table ${schema}.kept (t text, j jsonb, b bytea)`,
  );
});
afterAll(async () => {
  await sql.unsafe(`drop schema ${schema} cascade`);
  await rm(records, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
});

const inScratch = async () =>
  (await new StorageSearch(records).database(setting("DATABASE_URL"))).filter((finding) =>
    finding.startsWith(schema),
  );

describe("a secret is found", () => {
  test("in every form, at any place, and in no other text", () => {
    const noise = randomBytes(3000).toString("base64");
    for (const [kind, secret] of Object.entries({ key, bearer, password })) {
      const search = new TraceSearch([{ secret, kind }]);
      expect(search.find(Buffer.from(noise))).toEqual(new Set());
      for (const form of formsOf(secret).values()) {
        for (const at of [0, 1, 17, noise.length]) {
          const text = noise.slice(0, at) + form + noise.slice(at);
          expect(search.find(Buffer.from(text)).size, form).toBeGreaterThan(0);
        }
      }
    }
  });

  test("however it was encoded together with what stands around it", () => {
    const search = new TraceSearch([{ secret: password, kind: "password" }]);
    for (const before of ["", "x", "xy", "xyz", "Authorization: Basic user:"]) {
      const whole = Buffer.from(`${before}${password}, and more`);
      const encoded = [
        ...(["base64", "base64url", "hex"] as const).map((as) => whole.toString(as)),
        whole.toString("hex").toUpperCase(),
        encodeURIComponent(whole.toString()),
        [...whole.toString()].reverse().join(""),
        `${whole}`,
      ];
      for (const text of encoded) expect(search.find(Buffer.from(text)).size, text).toBe(1);
    }
  });

  test("across the pieces of a file", async () => {
    const search = new TraceSearch([{ secret: key, kind: "API key" }]);
    async function* pieces() {
      for (const letter of `noise ${key} noise`) yield letter;
      yield Buffer.alloc(1 << 20, 120);
    }
    expect(await search.findIn(pieces())).toEqual(new Set([`API key ${key.slice(0, 5)}…, clear`]));
  });

  test("among thousands of others", () => {
    const many = Array.from({ length: 3000 }, () => ({ secret: newKey("y").raw, kind: "API key" }));
    const search = new TraceSearch([...many, { secret: bearer, kind: "bearer" }]);
    expect(search.find(Buffer.from(`x ${bearer.slice(0, -60)}`)).size).toBe(0);
    expect([...search.find(Buffer.from(`x ${essenceOf(bearer)} y`))]).toEqual([
      expect.stringMatching(/^bearer .*, clear$/),
    ]);
  });
});

describe("in the database", () => {
  test.each([...formsOf(key)])("a key is found as %s", async (_, form) => {
    expect(await inScratch()).toEqual([]);
    await sql`insert into ${sql(schema)}.kept (t) values (${`before ${form} after`})`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`update ${sql(schema)}.kept set t = null, j = ${sql.json({ deep: [{ in: form }] })}`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`update ${sql(schema)}.kept set j = null, b = ${Buffer.from(form)}`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`delete from ${sql(schema)}.kept`;
  });

  test("a code is found beside its address, and only there", async () => {
    noteCode(records, { code: "482913", email: "ada@example.com" });
    await sql`insert into ${sql(schema)}.kept (t, j)
      values ('482913', '{"to": "grace@example.com"}'), ('a482913b', '{"to": "ada@example.com"}')`;
    expect(await inScratch()).toEqual([]);
    await sql`insert into ${sql(schema)}.kept (t, j) values ('482913', '{"to": "ada@example.com"}')`;
    expect(await inScratch()).toEqual([`${schema}.kept: verification code of ada@example.com`]);
    await sql`delete from ${sql(schema)}.kept`;
  });
});

describe("in files", () => {
  test("every form is found, but not where it is meant to be", async () => {
    const folder = join(dataDir, "sandboxes", "home");
    await mkdir(folder, { recursive: true });
    await mkdir(join(dataDir, "mailbox"));
    await writeFile(join(dataDir, "mailbox", "1.eml"), `Your key is ${key}`);
    await writeFile(join(dataDir, "secrets.json"), JSON.stringify({ password }));
    expect(await new StorageSearch(records).folder(dataDir)).toEqual([]);
    for (const secret of [key, bearer, password]) {
      for (const form of formsOf(secret).values()) {
        await writeFile(join(folder, "file.bin"), randomBytes(100));
        await appendFile(join(folder, "file.bin"), form);
        const found = await new StorageSearch(records).folder(dataDir);
        expect(found[0]).toMatch(/^sandboxes\/home\/file.bin: /);
      }
    }
  });

  test("a secret that a test has disguised is looked for in clear alone", () => {
    const reversed = [...key].reverse().join("");
    const find = (text: string) => new StorageSearch(records).log("log", text);
    expect(find(reversed)).toEqual([`log: API key ${key.slice(0, 5)}…, reversed`]);
    noteDisguised(records, key);
    expect(find(reversed)).toEqual([]);
    expect(find(key)).toEqual([`log: API key ${key.slice(0, 5)}…, clear`]);
  });
});
