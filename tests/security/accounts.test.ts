import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { expectError } from "../support/fixtures/shapes.ts";
import {
  client,
  createAccount,
  createBearer,
  createKey,
  createPerson,
  link,
  type Person,
} from "../support/harness/clients.ts";
import { admin, sql } from "../support/harness/stack.ts";

const verdict = z.object({
  account_id: z.string(),
  access: z.object({
    account: z.boolean().nullable(),
    organization: z.boolean().nullable(),
    artist: z.boolean().nullable(),
  }),
});

/** Sends the authentication call for the accounts that a request names. */
async function ask(email: string, named: Record<string, string>) {
  const { data, error } = await admin.rpc("authenticate_email", { p_email: email, ...named });
  expect(error).toBeNull();
  return verdict.parse(data).access;
}

describe("account_id", () => {
  let member: Person;
  let organizationKey: string;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    member = await createPerson();
    ids.member = member.id;
    const organization = (await createAccount({ kind: "organization" })).id;
    ids.organization = organization;
    await link(organization, member.id);
    for (const kind of ["artist", "workspace", "personal"] as const) {
      ids[kind] = (await createAccount({ kind })).id;
      await link(organization, ids[kind]);
    }
    organizationKey = await createKey(organization);
  });

  it("organization_id takes the organization's own key, and nothing that is no organization", async () => {
    const open = (key: string, name: string) =>
      client({ key }).post("/api/sessions", { organization_id: ids[name] });
    expect((await open(organizationKey, "organization")).status).toBe(201);
    for (const name of ["artist", "workspace", "personal", "member"]) {
      const answer = await open(member.key, name);
      expect(answer.status, name).toBe(403);
      expect(answer.headers.get("x-error-code")).toBe("access_denied");
    }
  });

  it("artistId takes no account that is no artist", async () => {
    for (const name of ["organization", "workspace", "personal", "member"]) {
      const answer = await member.withKey.post("/api/sessions", { artistId: ids[name] });
      expectError(answer, 404, "error", "Artist not found");
    }
  });
});

describe("the account of an e-mail", () => {
  const sessionsOf = (bearer: string) => client({ bearer }).get("/api/sessions");
  const accountsOf = (email: string) =>
    sql`select id, kind, email from accounts where email = ${email.toLowerCase()}`;

  it("is made once, even when many first requests come at once", async () => {
    const email = `First-${randomUUID()}@Example.com`;
    const bearers = await Promise.all(Array.from({ length: 20 }, () => createBearer(email)));
    const answers = await Promise.all(bearers.map(sessionsOf));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const accounts = await accountsOf(email);
    expect(accounts).toHaveLength(1);
    expect(accounts[0]).toMatchObject({ kind: "personal", email: email.toLowerCase() });
  });

  it("is never an organization that has the same e-mail", async () => {
    const email = `${randomUUID()}@example.com`;
    const organization = await createAccount({ kind: "organization", email });
    expect((await sessionsOf(await createBearer(email))).status).toBe(200);
    const kinds = (await accountsOf(email)).map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["organization", "personal"]);
    const access = await ask(email, { p_organization_id: organization.id });
    expect(access.organization).toBe(false);
  });
});
