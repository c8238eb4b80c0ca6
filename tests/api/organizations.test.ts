import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { joinOrganization, makeOrganization } from "../support/fixtures/people.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/organizations/${id}`;
const missing = { status: "error", error: "Organization not found" };
const forMembers = { status: "error", error: "Only an owner of the organization can do this" };
const page = z.object({
  organizations: z.array(z.object({ organization_id: z.string() })),
  next_cursor: z.string().nullable(),
});

/** An organization with an owner and a member, and someone who does not belong to it. */
async function createTeam() {
  const [owner, member, stranger] = await Promise.all([
    createPerson(),
    createPerson(),
    createPerson(),
  ]);
  const id = await makeOrganization(owner.withKey);
  await joinOrganization(owner.withKey, id, member);
  return { id, owner, member, stranger };
}

describe("POST /api/organizations", () => {
  test("201: the caller is its owner, and may name it wherever an organization is taken", async () => {
    const { withKey } = await createPerson();
    const answer = await withKey.post("/api/organizations", { name: "  Velvet Harbor " });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: "success",
        organization: {
          organization_id: expect.any(String),
          organization_name: "Velvet Harbor",
          image: null,
          role: "owner",
          artist_ids: null,
          created_at: expect.any(String),
        },
      },
    ]);
    const id = await makeOrganization(withKey);
    const session = await withKey.post("/api/sessions", { organization_id: id });
    expect(session.body).toMatchObject({ session: { organizationId: id } });
  });

  test("403: an account belongs to at most 100, also when two are created at once", async () => {
    const { id, withKey } = await createPerson();
    await sql`with made as (
        insert into accounts (kind, name)
        select 'organization', 'filler' from generate_series(1, 99) returning id)
      insert into organization_accounts (organization_id, account_id) select id, ${id} from made`;
    const create = () => withKey.post("/api/organizations", { name: "The last" });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    expect((await create()).headers.get("x-error-code")).toBe("quota_exceeded");
  });
});

describe("GET /api/organizations 200", () => {
  test("lists those of the caller only, newest first, in pages", async () => {
    const [{ withKey }, other] = await Promise.all([createPerson(), createPerson()]);
    await makeOrganization(other.withKey);
    const made: string[] = [];
    for (const name of ["a", "b", "c"]) made.unshift(await makeOrganization(withKey, name));
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query = cursor === "" ? "limit=2" : `limit=2&cursor=${cursor}`;
      const { organizations, next_cursor } = page.parse(
        (await withKey.get(`/api/organizations?${query}`)).body,
      );
      seen.push(...organizations.map(({ organization_id }) => organization_id));
      cursor = next_cursor;
    }
    expect(seen).toEqual(made);
  });
});

describe("/api/organizations/{id}", () => {
  test("200: members read it, owners change it", async () => {
    const { id, owner, member } = await createTeam();
    const image = "https://example.com/logo.png";
    const changed = await owner.withKey.patch(pathOf(id), { name: "Renamed", image });
    expect(changed.body).toMatchObject({
      organization: { organization_name: "Renamed", image, role: "owner" },
    });
    expect((await member.withBearer.get(pathOf(id))).body).toMatchObject({
      organization: { organization_name: "Renamed", image, role: "member" },
    });
    const cleared = await owner.withKey.patch(pathOf(id), { image: null });
    expect(cleared.body).toMatchObject({
      organization: { organization_name: "Renamed", image: null },
    });
  });

  test("403: members change and delete nothing", async () => {
    const { id, member } = await createTeam();
    for (const answer of [
      await member.withKey.patch(pathOf(id), { name: "Mine" }),
      await member.withKey.delete(pathOf(id)),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, forMembers]);
    }
    expect((await member.withKey.get(pathOf(id))).body).toMatchObject({
      organization: { organization_name: "Velvet Harbor" },
    });
  });

  test("404: a personal account is not an organization, not even to itself", async () => {
    const { id, withKey } = await createPerson();
    for (const answer of [
      await withKey.get(pathOf(id)),
      await withKey.get(`${pathOf(id)}/members`),
      await withKey.patch(`${pathOf(id)}/members/${id}`, { role: "owner" }),
      await withKey.post(`${pathOf(id)}/invitations`, { email: "a@example.com", role: "owner" }),
      await withKey.delete(pathOf(id)),
    ]) {
      expect([answer.status, answer.body]).toEqual([404, missing]);
    }
  });

  test("200: a deletion takes its artists along, and leaves what its members own", async () => {
    const { id, owner, member } = await createTeam();
    const artist = randomUUID();
    await sql`insert into accounts (id, kind) values (${artist}, 'artist')`;
    await sql`insert into organization_accounts (organization_id, account_id)
      values (${id}, ${artist})`;
    const body = { organization_id: id, artistId: artist };
    const made = z.object({ session: z.object({ id: z.string() }) });
    const { session } = made.parse((await member.withKey.post("/api/sessions", body)).body);
    expect((await owner.withKey.delete(pathOf(id))).status).toBe(200);
    expect((await owner.withKey.delete(pathOf(id))).status).toBe(404);
    const kept = await member.withKey.get(`/api/sessions/${session.id}`);
    expect(kept.body).toMatchObject({ session: { organizationId: null, artistId: null } });
    expect(await sql`select from accounts where id in (${id}, ${artist})`).toHaveLength(0);
  });
});

describe("/api/organizations/{id}/members", () => {
  test("200: lists people, newest first, without artists", async () => {
    const { id, owner, member } = await createTeam();
    const artist = randomUUID();
    await sql`insert into accounts (id, kind) values (${artist}, 'artist')`;
    await sql`insert into organization_accounts (organization_id, account_id)
      values (${id}, ${artist})`;
    const { body } = await member.withKey.get(`${pathOf(id)}/members`);
    expect(body).toEqual({
      status: "success",
      members: [
        {
          account_id: member.id,
          email: member.email,
          name: null,
          role: "member",
          artist_ids: null,
        },
        { account_id: owner.id, email: owner.email, name: null, role: "owner", artist_ids: null },
      ],
      next_cursor: null,
    });
    const artistPath = `${pathOf(id)}/members/${artist}`;
    expect((await owner.withKey.delete(artistPath)).status).toBe(404);
  });

  test("200: an owner promotes, demotes and removes; a removed member loses access", async () => {
    const { id, owner, member } = await createTeam();
    const path = `${pathOf(id)}/members/${member.id}`;
    expect((await owner.withKey.patch(path, { role: "owner" })).body).toEqual({
      status: "success",
      member: {
        ...{ account_id: member.id, email: member.email, name: null },
        ...{ role: "owner", artist_ids: null },
      },
    });
    expect((await owner.withKey.patch(path, { role: "member" })).status).toBe(200);
    expect((await owner.withKey.delete(path)).status).toBe(200);
    expect((await member.withKey.get(pathOf(id))).status).toBe(404);
    expect((await member.withKey.post("/api/sessions", { organization_id: id })).status).toBe(403);
  });

  test("404: who is no member", async () => {
    const { id, owner, stranger } = await createTeam();
    for (const account of [stranger.id, randomUUID()]) {
      const answer = await owner.withKey.delete(`${pathOf(id)}/members/${account}`);
      expect(answer.body).toEqual({ status: "error", error: "Member not found" });
      expect(answer.status).toBe(404);
    }
  });

  test.each([
    ["leave", (caller: Client, path: string) => caller.delete(path)],
    ["step down", (caller: Client, path: string) => caller.patch(path, { role: "member" })],
  ])("409: of owners who %s at once, one stays", async (_, leave) => {
    const people = await Promise.all(Array.from({ length: 4 }, () => createPerson()));
    const [first, ...others] = people;
    if (!first) throw new Error("nobody");
    const id = await makeOrganization(first.withKey);
    for (const other of others) await joinOrganization(first.withKey, id, other, "owner");
    const answers = await Promise.all(
      people.map(({ id: account, withKey }) => leave(withKey, `${pathOf(id)}/members/${account}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
    const [row] = await sql`select count(*)::int as owners from organization_accounts
      where organization_id = ${id} and role = 'owner'`;
    expect(row?.owners).toBe(1);
  });

  test("409: of two owners who remove each other, one stays", async () => {
    const { id, owner, member } = await createTeam();
    const path = `${pathOf(id)}/members`;
    await owner.withKey.patch(`${path}/${member.id}`, { role: "owner" });
    const answers = await Promise.all([
      owner.withKey.delete(`${path}/${member.id}`),
      member.withKey.delete(`${path}/${owner.id}`),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });
});
