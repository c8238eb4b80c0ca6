import { describe, expect, it } from "vitest";
import { isWellFormedKey } from "../../lib/identity/keys/key-format.ts";
import type { paths } from "../generated/api.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client, createPerson, dataOf, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql } from "../support/harness/stack.ts";

type NewKey = paths["/api/keys"]["post"]["requestBody"]["content"]["application/json"];

const create = (person: Person, body: NewKey) =>
  dataOf(person.withBearer.api.POST("/api/keys", { body }));

const list = async (person: Person) => (await dataOf(person.withBearer.api.GET("/api/keys"))).keys;

const rotate = (person: Person, id: string, graceSeconds?: number) =>
  dataOf(
    person.withKey.api.POST("/api/keys/{id}/rotate", {
      params: { path: { id } },
      ...(graceSeconds === undefined ? {} : { body: { grace_seconds: graceSeconds } }),
    }),
  );

const statusWith = async (key: string): Promise<number> =>
  (await client({ key }).get("/api/keys")).status;

describe("POST /api/keys", () => {
  it("201: gives a key that works at once, and stores only its HMAC", async () => {
    const person = await createPerson();
    const key = await create(person, { key_name: "  laptop  " });
    expect(isWellFormedKey(key.key)).toBe(true);
    expect(key.key_name).toBe("laptop");
    expect(key.prefix).toBe(key.key.slice(0, 7));
    expect(key.expires_at).toBeNull();
    expect(key.created_at).toMatch(/\.\d{3}Z$/);
    expect(await statusWith(key.key)).toBe(200);
    const [row] = await sql`select * from api_keys where id = ${key.id}`;
    expect(row?.account_id).toBe(person.id);
    expect(row?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(key.key.slice(7));
  });

  it("201: counts the days of expires_in_days from now", async () => {
    const key = await create(await createPerson(), { key_name: "short", expires_in_days: 3 });
    const days = (Date.parse(key.expires_at ?? "") - Date.parse(key.created_at)) / 86_400_000;
    expect(days).toBeCloseTo(3, 2);
  });

  it("403: an account has at most 1,000, of which two at once take no more than the last", async () => {
    const person = await createPerson();
    const [first] = await list(person);
    await sql`insert into api_keys (account_id, name, hash, prefix)
      select ${person.id}, 'many', md5(${person.id} || n), 'prefix_' from generate_series(1, 998) n`;
    const answers = await Promise.all(
      ["one", "other"].map((key_name) => person.withBearer.post("/api/keys", { key_name })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403]);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.body).toMatchObject({
      error: "The account has too many keys: revoke one first",
    });
    expect(await list(person)).toHaveLength(1_000);
    // With a grace time a rotation would leave one more.
    const path = `/api/keys/${first?.id}/rotate`;
    expect((await person.withBearer.post(path, { grace_seconds: 60 })).status).toBe(403);
    expect((await person.withKey.get("/api/keys")).status).toBe(200);
    expect((await person.withBearer.post(path, {})).status).toBe(201);
  });
});

describe("GET /api/keys", () => {
  it("200: newest first, own keys only, never a hash, run keys not listed", async () => {
    const person = await createPerson();
    const other = await createPerson();
    const first = await create(person, { key_name: "first" });
    const second = await create(person, { key_name: "second" });
    await createRunCredential(person.id, "key");
    const keys = await list(person);
    expect(keys.map((key) => key.key_name)).toEqual(["second", "first", "test"]);
    expect(keys[0]?.id).toBe(second.id);
    expect(keys[1]?.id).toBe(first.id);
    expect((await list(other)).map((key) => key.key_name)).toEqual(["test"]);
  });

  it("200: last_used_at is written at the first use and at most once a minute", async () => {
    const person = await createPerson();
    const key = await create(person, { key_name: "used" });
    const lastUse = async () => (await list(person)).find(({ id }) => id === key.id)?.last_used_at;
    expect(await lastUse()).toBeNull();
    await statusWith(key.key);
    const first = await lastUse();
    expect(first).toBeTypeOf("string");
    await statusWith(key.key);
    expect(await lastUse()).toBe(first);
    await sql`update api_keys set last_used_at = now() - interval '61 seconds' where id = ${key.id}`;
    await Promise.all(Array.from({ length: 8 }, () => statusWith(key.key)));
    expect(Date.parse((await lastUse()) ?? "")).toBeGreaterThanOrEqual(Date.parse(first ?? ""));
  });
});

describe("DELETE /api/keys/{id}", () => {
  it("200: the key ends at once and leaves the list; a second time is 404", async () => {
    const person = await createPerson();
    const key = await create(person, { key_name: "gone" });
    expect(await statusWith(key.key)).toBe(200);
    const answer = await person.withBearer.delete(`/api/keys/${key.id.toUpperCase()}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: "success" });
    expect(await statusWith(key.key)).toBe(401);
    expect((await list(person)).some(({ id }) => id === key.id)).toBe(false);
    const again = await person.withBearer.delete(`/api/keys/${key.id}`);
    expectError(again, 404, "error", "Key not found");
  });
});

describe("POST /api/keys/{id}/rotate", () => {
  it("201: without grace the old key ends as the new one starts", async () => {
    const person = await createPerson();
    const old = await create(person, { key_name: "deploy", expires_in_days: 10 });
    const fresh = await rotate(person, old.id);
    expect(fresh.key_name).toBe("deploy");
    expect(fresh.id).not.toBe(old.id);
    const days = (Date.parse(fresh.expires_at ?? "") - Date.parse(fresh.created_at)) / 86_400_000;
    expect(days).toBeCloseTo(10, 2);
    expect(await statusWith(old.key)).toBe(401);
    expect(await statusWith(fresh.key)).toBe(200);
  });

  it("201: with grace both keys work, the list shows the old one's end, and then it ends", async () => {
    const person = await createPerson();
    const old = await create(person, { key_name: "grace" });
    const fresh = await rotate(person, old.id, 600);
    expect(await statusWith(old.key)).toBe(200);
    expect(await statusWith(fresh.key)).toBe(200);
    const shown = (await list(person)).find(({ id }) => id === old.id);
    const remaining = Date.parse(shown?.expires_at ?? "") - Date.now();
    expect(remaining).toBeGreaterThan(500_000);
    expect(remaining).toBeLessThanOrEqual(601_000);
    await sql`update api_keys set revoked_at = now() where id = ${old.id}`;
    expect(await statusWith(old.key)).toBe(401);
    expect(await statusWith(fresh.key)).toBe(200);
  });

  it("201 once: of simultaneous rotations one gives a key, and no key is left over", async () => {
    const person = await createPerson();
    const old = await create(person, { key_name: "raced" });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        person.withKey.post(`/api/keys/${old.id}/rotate`, { grace_seconds: 60 }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    expect((await list(person)).filter((key) => key.key_name === "raced")).toHaveLength(2);
  });
});
