/**
 * Lists that are read in the same round trip that says who asks: whatever that round trip finds out,
 * nobody is shown more than by two.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSession } from "../support/fixtures/sessions.ts";
import { insertRun, plainRun, runsIn } from "../support/fixtures/task-runs.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import {
  type Client,
  client,
  createBearer,
  createKey,
  createPerson,
} from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const sessions = z.object({ sessions: z.array(z.object({ id: z.string() })) });
const templates = z.object({ templates: z.array(z.object({ id: z.string() })) });

/** What a caller has of each list. */
async function readLists(caller: Client) {
  const [ofSessions, ofTemplates, ofRuns] = await Promise.all([
    caller.get("/api/sessions"),
    caller.get("/api/agents/templates?limit=100"),
    caller.get("/api/tasks/runs"),
  ]);
  return {
    sessions: sessions.parse(ofSessions.body).sessions.map(({ id }) => id),
    templates: templates.parse(ofTemplates.body).templates.map(({ id }) => id),
    runs: runsIn(ofRuns).map(({ id }) => id),
  };
}

async function createOwner() {
  const person = await createPerson();
  const { session } = await createSession(person.withKey);
  const template = await createTemplate(person.withKey, { is_private: true });
  const run = plainRun(person.id);
  await insertRun(person.id, run);
  return { person, session, template, run };
}

describe("a list that comes with the authentication", () => {
  test("is the caller's own, with either credential", async () => {
    const [{ person, session, template, run }, other] = await Promise.all([
      createOwner(),
      createOwner(),
    ]);
    for (const caller of [person.withKey, person.withBearer]) {
      const lists = await readLists(caller);
      expect([lists.sessions, lists.runs]).toEqual([[session.id], [run.id]]);
      expect(lists.templates).toContain(template.id);
      expect(lists.templates).not.toContain(other.template.id);
    }
  });

  test("is there for an address that has no account yet", async () => {
    const email = `${randomUUID()}@example.com`;
    const caller = client({ bearer: await createBearer(email) });
    const answer = await caller.get("/api/sessions");
    expect([answer.status, answer.body]).toEqual([200, { sessions: [], next_cursor: null }]);
    expect(await sql`select count(*)::int as n from accounts where email = ${email}`).toEqual([
      { n: 1 },
    ]);
  });

  test.each([
    ["revoked", { revokedAt: new Date(Date.now() - 1000) }],
    ["expired", { expiresAt: new Date(Date.now() - 1000) }],
  ])("is not there for a key that is %s", async (_what, ended) => {
    const { person } = await createOwner();
    const caller = client({ key: await createKey(person.id, ended) });
    for (const path of ["/api/sessions", "/api/agents/templates", "/api/tasks/runs"]) {
      const answer = await caller.get(path);
      expect([answer.status, answer.body]).toMatchObject([401, { error: "Unauthorized" }]);
    }
  });

  test("is the other account's where the caller may act for it, and 403 where not", async () => {
    const [{ person, run }, stranger] = await Promise.all([createOwner(), createPerson()]);
    const path = (id: string) => `/api/tasks/runs?account_id=${id}`;
    const own = await person.withKey.get(path(person.id));
    expect(runsIn(own).map(({ id }) => id)).toEqual([run.id]);
    expect((await stranger.withKey.get(path(person.id))).status).toBe(403);

    await sql`insert into organization_accounts (organization_id, account_id)
      values (${await organizationOf(stranger.id)}, ${person.id})`;
    const theirs = await stranger.withKey.get(path(person.id));
    expect(runsIn(theirs).map(({ id }) => id)).toEqual([run.id]);
    expect(runsIn(await stranger.withKey.get("/api/tasks/runs"))).toEqual([]);
  });

  test("counts as one request, and a wrong query as one too", async () => {
    const person = await createPerson();
    const left = async (path: string) => {
      const { headers } = await person.withKey.get(path);
      return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    };
    const first = await left("/api/sessions");
    const faulty = await left("/api/sessions?limit=0");
    expect(first - faulty).toBeLessThanOrEqual(1);
    expect(first - (await left("/api/sessions"))).toBeLessThanOrEqual(2);
  });
});

/** A new organization that the account belongs to. */
async function organizationOf(accountId: string): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, kind) values (${id}, 'organization')`;
  await sql`insert into organization_accounts (organization_id, account_id)
    values (${id}, ${accountId})`;
  return id;
}
