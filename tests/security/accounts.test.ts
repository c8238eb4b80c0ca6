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

/**
 * member ─┐
 *         ├─ organization ── artist, workspace
 * fellow ─┘                               outsider    other organization ── other artist
 */
describe("account_id", () => {
  let member: Person;
  let outsider: Person;
  const ids: Record<string, string> = {};
  let organizationKey: string;

  beforeAll(async () => {
    [member, outsider] = await Promise.all([createPerson(), createPerson()]);
    const make = async (
      name: string,
      kind: "organization" | "artist" | "workspace" | "personal",
    ) => {
      ids[name] = (await createAccount({ kind })).id;
      return ids[name];
    };
    const organization = await make("organization", "organization");
    const other = await make("other organization", "organization");
    await link(organization, member.id);
    await link(organization, await make("artist", "artist"));
    await link(organization, await make("workspace", "workspace"));
    await link(organization, await make("fellow", "personal"));
    await link(other, await make("other artist", "artist"));
    ids.outsider = outsider.id;
    ids.member = member.id;
    ids.nobody = randomUUID();
    organizationKey = await createKey(organization);
  });

  const granted = async (email: string, name: string) =>
    (await ask(email, { p_account_id: ids[name] ?? "" })).account;

  it.each([
    ["member", true],
    ["organization", true],
    ["artist", true],
    ["workspace", true],
    ["fellow", true],
    ["outsider", false],
    ["other organization", false],
    ["other artist", false],
    ["nobody", false],
  ])("a member asks for %s: %s", async (name, expected) => {
    expect(await granted(member.email, name)).toBe(expected);
  });

  it.each(["member", "organization", "artist", "workspace", "fellow", "nobody"])(
    "who belongs to no organization never reaches %s",
    async (name) => {
      expect(await granted(outsider.email, name)).toBe(false);
      expect(await granted(outsider.email, "outsider")).toBe(true);
    },
  );

  it("a member of the admin organization reaches every account that exists", async () => {
    const chief = await createPerson();
    const admins = await createAccount({ kind: "organization", isAdmin: true });
    for (const name of Object.keys(ids)) expect(await granted(chief.email, name)).toBe(false);
    await link(admins.id, chief.id);
    for (const name of Object.keys(ids)) {
      expect(await granted(chief.email, name), name).toBe(name !== "nobody");
    }
    await sql`delete from accounts where id = ${admins.id}`;
    expect(await granted(chief.email, "outsider")).toBe(false);
  });

  it("organization_id takes the organization's own key, and nothing that is no organization", async () => {
    const open = (key: string, name: string) =>
      client({ key }).post("/api/sessions", { organization_id: ids[name] });
    expect((await open(organizationKey, "organization")).status).toBe(201);
    for (const name of ["artist", "workspace", "fellow", "member"]) {
      const answer = await open(member.key, name);
      expect(answer.status, name).toBe(403);
      expect(answer.headers.get("x-error-code")).toBe("access_denied");
    }
  });

  it("artistId takes no account that is no artist", async () => {
    for (const name of ["organization", "workspace", "fellow", "member"]) {
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
