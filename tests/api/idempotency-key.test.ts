/** `Idempotency-Key`, tested on the endpoint that starts runs. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { type Client, createAccount, createPerson } from "../support/harness/clients.ts";
import { startedOf, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const post = (caller: Client, key: string, body: unknown) =>
  caller.post("/api/chat/runs", body, { headers: { "idempotency-key": key } });
const turnsOf = async (accountId: string) =>
  (await sql`select count(*)::int as count from turns where account_id = ${accountId}`)[0]?.count;

describe("the same key and body", () => {
  it("has one effect, and the first answer again, whichever credential of the account", async () => {
    const person = await createPerson();
    const key = randomUUID();
    const first = await post(person.withKey, key, { prompt: "hello", model: "embedded/rules" });
    const run = startedOf(first);
    expect(first.headers.has("idempotency-replayed")).toBe(false);
    // The order of a JSON object's keys and its white space mean nothing.
    const again = ' { "model" : "embedded/rules", "prompt" : "hello" }';
    for (const caller of [person.withKey, person.withBearer]) {
      const replayed = await post(caller, key, again);
      expect([replayed.status, replayed.text]).toEqual([first.status, first.text]);
      expect(replayed.headers.get("idempotency-replayed")).toBe("true");
      for (const name of ["location", "retry-after", "content-type", "cache-control"]) {
        expect(replayed.headers.get(name), name).toBe(first.headers.get(name));
      }
      expect(replayed.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    }
    expect(await turnsOf(person.id)).toBe(1);
    await waitForRun(person.withKey, run);
  });

  it("gets a refusal again as well", async () => {
    const person = await createPerson();
    const key = randomUUID();
    const first = await post(person.withKey, key, { prompt: "hello", model: "no/such-model" });
    const second = await post(person.withKey, key, { prompt: "hello", model: "no/such-model" });
    expect([first.status, second.status]).toEqual([400, 400]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("x-error-code")).toBe("invalid_request");
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  it("a day later is a new request", async () => {
    const person = await createPerson();
    const key = randomUUID();
    const first = startedOf(await post(person.withKey, key, { prompt: "hello" }));
    const age = (hours: number) => sql`
      update idempotency_keys set created_at = now() - make_interval(hours => ${hours})
      where account_id = ${person.id}`;
    await age(23);
    expect(startedOf(await post(person.withKey, key, { prompt: "hello" }))).toEqual(first);
    await age(25);
    const later = startedOf(await post(person.withKey, key, { prompt: "something else" }));
    expect(later.runId).not.toBe(first.runId);
    await Promise.all([first, later].map((run) => waitForRun(person.withKey, run)));
  });
});

describe("what a key does not reach", () => {
  it("a request that was refused before it began: it may be put right", async () => {
    const person = await createPerson();
    const foreign = await createAccount({ kind: "artist" });
    const key = randomUUID();
    expect((await post(person.withKey, key, {})).status).toBe(400);
    const denied = await post(person.withKey, key, { prompt: "hello", artistId: foreign.id });
    expect(denied.status).toBe(404);
    await waitForRun(
      person.withKey,
      startedOf(await post(person.withKey, key, { prompt: "hello" })),
    );
  });

  it("any endpoint but those that create something, with a credential", () => {
    const taking = contracts.filter(({ idempotent }) => idempotent);
    expect(taking.length).toBeGreaterThan(0);
    for (const { method, auth } of taking) expect([method, auth]).toEqual(["POST", "required"]);
  });
});

describe("in the database", () => {
  it("neither key, request nor answer can be read", async () => {
    const person = await createPerson();
    const key = "k".repeat(255);
    const run = startedOf(await post(person.withKey, key, { prompt: "a secret plan" }));
    const rows = await sql`select * from idempotency_keys where account_id = ${person.id}`;
    expect(rows).toHaveLength(1);
    const [stored] = rows;
    expect(stored?.response).toEqual(expect.any(String));
    const text = JSON.stringify(stored);
    const decoded = Buffer.from(String(stored?.response), "base64").toString("latin1");
    for (const secret of [key, "a secret plan", run.runId, run.chatId]) {
      expect(text + decoded).not.toContain(secret);
    }
    await waitForRun(person.withKey, run);
  });
});
