import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { joinOrganization, makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { workspacePath, writeWorkspaceFile } from "../support/fixtures/workspace-files.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/artists/${id}`;
const missing = { status: "error", error: "Artist not found" };
const page = z.object({
  artists: z.array(z.object({ account_id: z.string() })),
  next_cursor: z.string().nullable(),
});
const listed = async (caller: Client, query = "") => {
  const { artists } = page.parse((await caller.get(`/api/artists?limit=100&${query}`)).body);
  return artists.map(({ account_id }) => account_id);
};

async function createTeam() {
  const [owner, member, stranger] = await Promise.all([
    createPerson(),
    createPerson(),
    createPerson(),
  ]);
  const organization = await makeOrganization(owner.withKey);
  await joinOrganization(owner.withKey, organization, member);
  return { organization, owner, member, stranger };
}

describe("POST /api/artists", () => {
  test("201: an artist of the caller alone works wherever an artist is taken", async () => {
    const [{ withKey }, stranger] = await Promise.all([createPerson(), createPerson()]);
    const body = {
      name: " Hana ",
      label: "Velvet",
      image: "https://example.com/hana.png",
      catalog_artist_id: "4Z8W4fKeB5YxbusRsdQVPb",
    };
    const answer = await withKey.post("/api/artists", body);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: "success",
        artist: {
          account_id: expect.any(String),
          name: "Hana",
          label: "Velvet",
          image: body.image,
          catalog_artist_id: body.catalog_artist_id,
          organization_id: null,
          created_at: expect.any(String),
        },
      },
    ]);
    const artistId = await makeArtist(withKey);
    const session = await withKey.post("/api/sessions", { artistId });
    expect(session.body).toMatchObject({ session: { artistId } });
    expect((await withKey.get(`/api/tasks/runs?account_id=${artistId}`)).status).toBe(200);
    expect((await stranger.withKey.post("/api/sessions", { artistId })).status).toBe(404);
  });

  test("201: all members of its organization work for an artist", async () => {
    const { organization, owner, member, stranger } = await createTeam();
    const artist = await makeArtist(member.withKey, organization);
    expect((await owner.withKey.get(pathOf(artist))).body).toMatchObject({
      artist: { account_id: artist, organization_id: organization },
    });
    expect((await stranger.withKey.get(pathOf(artist))).status).toBe(404);
  });

  test("403: at most 1,000, also when two are created at once", async () => {
    const { id, withKey } = await createPerson();
    await sql`with made as (
        insert into accounts (kind, name)
        select 'artist', 'filler' from generate_series(1, 999) returning id)
      insert into organization_accounts (organization_id, account_id) select ${id}, id from made`;
    const create = () => withKey.post("/api/artists", { name: "The last" });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    expect((await create()).headers.get("x-error-code")).toBe("quota_exceeded");
  });
});

describe("GET /api/artists 200", () => {
  test("lists own ones and those of organizations, each once, in pages that keep the filter", async () => {
    const { organization, owner, member } = await createTeam();
    await makeArtist(member.withKey);
    const own = await makeArtist(owner.withKey);
    const shared = await makeArtist(member.withKey, organization);
    const newest = await makeArtist(owner.withKey, organization);
    expect(await listed(owner.withKey)).toEqual([newest, shared, own]);
    const filter = `org_id=${organization}`;
    expect(await listed(owner.withKey, filter)).toEqual([newest, shared]);
    const first = await owner.withKey.get(`/api/artists?limit=1&${filter}`);
    expect(page.parse(first.body).artists).toMatchObject([{ account_id: newest }]);
    const next = /^<(.+)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    const second = page.parse((await owner.withKey.get(next)).body);
    expect(second).toMatchObject({ artists: [{ account_id: shared }], next_cursor: null });
  });

  test("a foreign organization has none, and account_id asks for those of another account", async () => {
    const { organization, owner, member, stranger } = await createTeam();
    const shared = await makeArtist(owner.withKey, organization);
    const own = await makeArtist(owner.withKey);
    for (const id of [organization, randomUUID()]) {
      expect(await listed(stranger.withKey, `org_id=${id}`)).toEqual([]);
    }
    expect(await listed(member.withKey, `account_id=${organization}`)).toEqual([shared]);
    expect(await listed(member.withKey, `account_id=${owner.id}`)).toEqual([own, shared]);
    const path = `/api/artists?account_id=${owner.id}`;
    expect((await stranger.withKey.get(path)).status).toBe(403);
  });
});

describe("/api/artists/{account_id}", () => {
  test("200: members change it, and null clears label and image", async () => {
    const { organization, owner, member } = await createTeam();
    const artist = await makeArtist(owner.withKey, organization);
    const change = { name: "Renamed", label: "Velvet", image: "https://example.com/a.png" };
    const changed = await member.withKey.patch(pathOf(artist), change);
    expect(changed.body).toMatchObject({ artist: change });
    const linked = { catalog_artist_id: "4Z8W4fKeB5YxbusRsdQVPb" };
    expect((await member.withKey.patch(pathOf(artist), linked)).body).toMatchObject({
      artist: { ...change, ...linked },
    });
    await member.withKey.patch(pathOf(artist), { catalog_artist_id: null });
    const cleared = await member.withKey.patch(pathOf(artist), { label: null, image: null });
    expect(cleared.body).toMatchObject({
      artist: { name: "Renamed", label: null, image: null, catalog_artist_id: null },
    });
    expect((await owner.withKey.get(pathOf(artist))).body).toEqual(cleared.body);
  });

  test("200: a deletion leaves the sessions that worked for it", async () => {
    const { organization, owner, member } = await createTeam();
    const artistId = await makeArtist(member.withKey, organization);
    const made = z.object({ session: z.object({ id: z.string() }) });
    const { session } = made.parse((await member.withKey.post("/api/sessions", { artistId })).body);
    expect((await owner.withKey.delete(pathOf(artistId))).status).toBe(200);
    expect((await owner.withKey.delete(pathOf(artistId))).body).toEqual(missing);
    const kept = await member.withKey.get(`/api/sessions/${session.id}`);
    expect(kept.body).toMatchObject({ session: { artistId: null } });
    expect(await sql`select from accounts where id = ${artistId}`).toHaveLength(0);
  });

  test("403: a member does not delete an artist of the organization", async () => {
    const { organization, member } = await createTeam();
    const artist = await makeArtist(member.withKey, organization);
    const answer = await member.withKey.delete(pathOf(artist));
    expect(answer.status).toBe(403);
    expect((await member.withKey.get(pathOf(artist))).status).toBe(200);
  });

  test("404: a foreign or missing artist, or another account", async () => {
    const { organization, owner, member, stranger } = await createTeam();
    const artist = await makeArtist(owner.withKey, organization);
    const own = await makeArtist(owner.withKey);
    for (const [{ withKey }, id] of [
      [stranger, artist],
      [stranger, randomUUID()],
      // Another member's own.
      [member, own],
      // Accounts that the caller may act for, and that are not artists.
      [owner, owner.id],
      [owner, organization],
      [owner, member.id],
    ] as const) {
      for (const answer of [
        await withKey.get(pathOf(id)),
        await withKey.patch(pathOf(id), { name: "Mine" }),
        await withKey.delete(pathOf(id)),
      ]) {
        expect([answer.status, answer.body]).toEqual([404, missing]);
      }
    }
  });
});

test("the example has its files, is created once, and keeps a person's changes", async () => {
  const { withKey } = await createPerson();
  const load = async () => {
    const answer = await withKey.post("/api/artists/example");
    expect(answer.status, answer.text).toBe(201);
    return z.object({ artist: z.object({ account_id: z.string() }) }).parse(answer.body).artist;
  };
  const [{ account_id: id }, same] = await Promise.all([load(), load()]);
  expect(same.account_id).toBe(id);
  const files = async () => {
    const { body } = await withKey.get(`/api/workspace/files?artist_id=${id}`);
    const file = z.object({ path: z.string(), version: z.number() });
    const { files: found } = z.object({ files: z.array(file) }).parse(body);
    return found.map(({ path, version }) => `${path} ${version}`).sort();
  };
  const all = [
    "contracts/recording-agreement.docx 1",
    "release-plan.md 1",
    "statements/distrokid-2026-q3.tsv 1",
    "statements/tunecore-2026-q3.xlsx 1",
  ];
  expect(await files()).toEqual(all);
  await writeWorkspaceFile(withKey, "release-plan.md", "Later", { artist_id: id });
  const deleted = { artist_id: id, path: "statements/distrokid-2026-q3.tsv" };
  await withKey.delete(workspacePath("files/content", deleted));
  await load();
  expect(await files()).toEqual([
    all[0],
    "release-plan.md 2",
    "statements/distrokid-2026-q3.tsv 3",
    all[3],
  ]);
});
