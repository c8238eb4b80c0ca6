/**
 * The search that ends every test run can fail: it finds secrets planted in the service's storage,
 * in every form.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newKey } from "../../lib/identity/keys/key-format.ts";
import { createDatabase } from "../support/harness/engine-database.ts";
import { essenceOf, formsOf } from "../support/secrets/forms.ts";
import { noteCode, noteDisguised, noteSecret, noteSettings } from "../support/secrets/known.ts";
import { StorageSearch } from "../support/secrets/search-storage.ts";
import { TraceSearch } from "../support/secrets/trace-search.ts";

/** Not the records of the run: its own search would fail. */
let records: string;
let dataDir: string;
/** Almost empty, because each search then takes milliseconds. */
let scratch: { url: string; drop(): Promise<void> };
let sql: Sql;
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
  scratch = await createDatabase();
  sql = postgres(scratch.url, { max: 1, onnotice: () => {} });
  await sql`create table kept (t text, j jsonb, b bytea)`;
});
afterAll(async () => {
  await sql.end();
  await scratch.drop();
  await rm(records, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
});

const inScratch = () => new StorageSearch(records).database(scratch.url);

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
    await sql`insert into kept (t) values (${`before ${form} after`})`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`update kept set t = null, j = ${sql.json({ deep: [{ in: form }] })}`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`update kept set j = null, b = ${Buffer.from(form)}`;
    expect((await inScratch()).length).toBeGreaterThan(0);
    await sql`delete from kept`;
  });

  test("a code is found beside its address, and only there", async () => {
    noteCode(records, { code: "482913", email: "ada@example.com" });
    await sql`insert into kept (t, j)
      values ('482913', '{"to": "grace@example.com"}'), ('a482913b', '{"to": "ada@example.com"}')`;
    expect(await inScratch()).toEqual([]);
    await sql`insert into kept (t, j) values ('482913', '{"to": "ada@example.com"}')`;
    expect(await inScratch()).toEqual(["public.kept: verification code of ada@example.com"]);
    await sql`delete from kept`;
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

  test("only a file that is as in the template is left out", async () => {
    const copied = join(dataDir, "copied");
    const original = join(dataDir, "original");
    await mkdir(original);
    await writeFile(join(original, "kept"), key);
    await writeFile(join(original, "changed"), "x".repeat(key.length));
    execFileSync("cp", ["-a", original, copied]);
    await writeFile(join(copied, "changed"), key);
    await writeFile(join(copied, "new"), key);
    const found = await new StorageSearch(records).folder(copied, original);
    expect(found.map((finding) => finding.split(":")[0]).sort()).toEqual(["changed", "new"]);
  });

  test("a secret is found in a changed page, and where it reaches into one that has not changed", async () => {
    const copied = join(dataDir, "copied-pages");
    const original = join(dataDir, "original-pages");
    await mkdir(original);
    const page = 8192;
    const noise = Buffer.concat([Buffer.alloc(20 * page), randomBytes(20 * page)]);
    const end = noise.length;
    const last = key.length - 1;
    /** Where the secret is, and what of it the original lacks: of one across two pages, either half. */
    const places = [
      { at: 0, from: 0, to: page },
      { at: 9_000, from: page, to: 2 * page },
      { at: 3 * page - 1, from: 2 * page, to: 3 * page },
      { at: 3 * page - last, from: 3 * page, to: 4 * page },
      { at: 30 * page - last, from: 29 * page, to: 30 * page },
      { at: 30 * page - 1, from: 30 * page, to: 31 * page },
      { at: end - key.length, from: end - page, to: end },
    ];
    const name = (n: number) => `place-${n}`;
    const withKey = (at: number) => {
      const bytes = Buffer.from(noise);
      bytes.write(key, at);
      return bytes;
    };
    for (const [n, { at, from, to }] of places.entries()) {
      const known = withKey(at);
      noise.copy(known, from, from, to);
      await writeFile(join(original, name(n)), known);
    }
    await writeFile(join(original, "unchanged"), key);
    execFileSync("cp", ["-a", original, copied]);
    for (const [n, { at }] of places.entries()) {
      await writeFile(join(copied, name(n)), withKey(at));
    }
    const found = await new StorageSearch(records).folder(copied, original);
    expect(new Set(found.map((finding) => finding.split(":")[0]))).toEqual(
      new Set(places.map((_, n) => name(n))),
    );
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
