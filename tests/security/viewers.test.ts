/**
 * A viewer of an organization reads like a member, and changes nothing; a member limited to artists
 * is a member for these and a stranger otherwise: tested for every operation that names accounts.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/openapi/registry.ts";
import { joinOrganization, makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { fillPath, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql } from "../support/harness/stack.ts";
import { rows } from "./rows.ts";
import { callers, sentences } from "./table.ts";
import { type Line, lines } from "./table-lines.ts";
import { titleOf } from "./table-suite.ts";

const memberPage = z.object({
  members: z.array(z.object({ email: z.string(), artist_ids: z.array(z.string()).nullable() })),
  next_cursor: z.string().nullable(),
});

let owner: Person;
let viewer: Person;
let limited: Person;
let accounts: Readonly<Record<string, string>>;
/** Belongs to the organization, and is not one of the limited member's artists. */
let otherArtist: string;
beforeAll(async () => {
  [owner, viewer, limited] = await Promise.all([createPerson(), createPerson(), createPerson()]);
  const organization = await makeOrganization(owner.withKey);
  const artist = await makeArtist(owner.withKey, organization);
  otherArtist = await makeArtist(owner.withKey, organization);
  await joinOrganization(owner.withKey, organization, viewer, "viewer");
  await joinOrganization(owner.withKey, organization, limited, "member", [artist]);
  accounts = { owner: owner.id, organization, artist };
});

const ofOthers = lines.filter(({ whose }) => /^(owner|organization|artist)$/.test(whose ?? ""));

/** Makes the request of a line of the table, for the account that it names. */
async function ask({ withKey }: Person, { name, field, whose, cells }: Line) {
  const contract = contracts.find((one) => nameOf(one) === name.replace(/ \(\w+\)$/, ""));
  const [row, member] = [rows[name], cells[callers.indexOf("member")]];
  const stranger = cells[callers.indexOf("stranger")];
  if (!contract || !row || !member || !stranger || !field || !whose) {
    throw new Error("No row of the table");
  }
  const ids = await row.arrange(owner, await createRunCredential(owner.id, "key"));
  const named = { [field]: accounts[whose] ?? "" };
  const query = new URLSearchParams({ ...row.query?.(ids), ...(contract.body ? {} : named) });
  const path = `${fillPath(contract.path, ids)}?${query}`;
  const body = contract.body && { body: { ...row.body?.(ids), ...named } };
  const answer = await withKey.request(contract.method, path, { ...body });
  return { answer, contract, member, stranger };
}

const named = ofOthers.map((line) => [titleOf(line), line] as const);

describe("a member that is limited to artists", () => {
  it.each(named)("%s", async (_, line) => {
    const { answer, member, stranger } = await ask(limited, line);
    const { status, sentence } = line.whose === "artist" ? member : stranger;
    expect(answer.status, answer.text).toBe(status);
    if (sentence !== null) expect(sentenceOf(answer)).toBe(sentence);
  });

  it("finds no other artist of the organization, and makes none there", async () => {
    const { withKey } = limited;
    const list = (await withKey.get("/api/artists")).text;
    expect(list).toContain(accounts.artist);
    expect(list).not.toContain(otherArtist);
    const asArtist = await withKey.get(`/api/artists?account_id=${accounts.artist}`);
    expect(asArtist.status).toBe(200);
    expect(asArtist.text).not.toContain(otherArtist);
    expect((await withKey.get(`/api/artists/${otherArtist}`)).status).toBe(404);
    expect((await withKey.patch(`/api/artists/${otherArtist}`, { name: "Mine" })).status).toBe(404);
    const files = `/api/workspace/files?artist_id=${otherArtist}`;
    expect((await withKey.get(files)).status).toBe(404);
    const body = { name: "Mine", organization_id: accounts.organization };
    expect((await withKey.post("/api/artists", body)).status).toBe(403);
    const found = await withKey.get(`/api/organizations/${accounts.organization}`);
    expect(found.body).toMatchObject({ organization: { artist_ids: [accounts.artist] } });
  });

  it.each(["member", "viewer"] as const)(
    "knows itself, the owners and who shares an artist, as a %s, and no artists of theirs",
    async (role) => {
      const { withKey } = owner;
      const organization = await makeOrganization(withKey);
      const [mine, ours, theirs, gone] = await Promise.all(
        Array.from({ length: 4 }, () => makeArtist(withKey, organization)),
      );
      if (!(mine && ours && theirs && gone)) throw new Error("No artists");
      const [self, unlimited, sharer, distant, former] = await Promise.all(
        Array.from({ length: 5 }, () => createPerson()),
      );
      if (!(self && unlimited && sharer && distant && former)) throw new Error("No people");
      await joinOrganization(withKey, organization, self, role, [mine, ours, gone]);
      await joinOrganization(withKey, organization, unlimited, "viewer");
      await joinOrganization(withKey, organization, sharer, "member", [ours, theirs]);
      await joinOrganization(withKey, organization, distant, "member", [theirs]);
      await joinOrganization(withKey, organization, former, "member", [gone]);
      expect((await withKey.delete(`/api/artists/${gone}`)).status).toBe(200);

      const path = `/api/organizations/${organization}/members`;
      const seen: { email: string; artist_ids: string[] | null }[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query = cursor === "" ? "limit=1" : `limit=1&cursor=${cursor}`;
        const { members, next_cursor } = memberPage.parse(
          (await self.withKey.get(`${path}?${query}`)).body,
        );
        expect(members).toHaveLength(1);
        seen.push(...members);
        cursor = next_cursor;
      }
      expect(Object.fromEntries(seen.map(({ email, artist_ids }) => [email, artist_ids]))).toEqual({
        [owner.email]: null,
        [self.email]: [mine, ours, gone],
        [unlimited.email]: null,
        [sharer.email]: [ours],
      });
      // Everyone else sees all of them.
      for (const person of [owner, unlimited]) {
        const all = memberPage.parse((await person.withKey.get(path)).body);
        expect(all.members.map(({ email }) => email)).toContain(distant.email);
      }

      // An address that the caller may not know is answered like one without a member.
      const task = (address: string) =>
        self.withKey.post("/api/tasks", {
          title: "Digest",
          prompt: "Summarize.",
          schedule: "0 9 * * *",
          deliver: [{ kind: "email", to: [address] }],
        });
      expect((await task(sharer.email)).status).toBe(201);
      const refused = await task(distant.email);
      expect(refused.status).toBe(400);
      const unknown = `${distant.id}@example.com`;
      const stranger = await task(unknown);
      expect(refused.text.replace(distant.email, unknown)).toBe(stranger.text);
    },
  );

  it("is limited and freed by owners only, and its turns for artists that it loses stop", async () => {
    const { turnId } = await createRunCredential(limited.id, "key");
    await sql`update turns set artist_id = ${accounts.artist ?? ""} where id = ${turnId}`;
    const path = `/api/organizations/${accounts.organization}/members/${limited.id}`;
    const strange = await makeArtist(owner.withKey);
    expect((await limited.withKey.patch(path, { artist_ids: "" })).status).toBe(403);
    expect((await owner.withKey.patch(path, { artist_ids: [strange] })).status).toBe(400);
    expect((await owner.withKey.patch(path, {})).status).toBe(400);
    const narrowed = await owner.withKey.patch(path, { artist_ids: [otherArtist] });
    expect(narrowed.body).toMatchObject({ member: { role: "member", artist_ids: [otherArtist] } });
    const [turn] = await sql`select stop_requested_at from turns where id = ${turnId}`;
    expect(turn?.stop_requested_at).not.toBeNull();
    expect((await limited.withKey.get(`/api/artists/${accounts.artist}`)).status).toBe(404);
    const freed = await owner.withKey.patch(path, { artist_ids: "" });
    expect(freed.body).toMatchObject({ member: { role: "member", artist_ids: null } });
    expect((await limited.withKey.get(`/api/artists/${accounts.artist}`)).status).toBe(200);
    const promoted = await owner.withKey.patch(path, { role: "owner", artist_ids: [otherArtist] });
    expect(promoted.body).toMatchObject({ member: { role: "owner", artist_ids: null } });
  });
});

describe("a viewer", () => {
  it.each(named)("%s", async (_, line) => {
    const { answer, contract, member } = await ask(viewer, line);
    if (contract.method === "GET" || member.sentence === sentences.b) {
      expect(answer.status, answer.text).toBe(member.status);
    } else {
      expect([sentences.a, sentences.g, sentences.m], answer.text).toContain(sentenceOf(answer));
    }
  });

  it("reads an organization and its artists, changes neither, and leaves", async () => {
    const { withKey } = viewer;
    const [artist, organization] = [
      `/api/artists/${accounts.artist}`,
      `/api/organizations/${accounts.organization}`,
    ];
    for (const path of [artist, organization, `${organization}/members`]) {
      expect((await withKey.get(path)).status, path).toBe(200);
    }
    expect((await withKey.get("/api/artists")).text).toContain(accounts.artist);
    for (const path of [artist, organization]) {
      expect((await withKey.patch(path, { name: "Taken" })).status, path).toBe(403);
      expect((await withKey.delete(path)).status, path).toBe(403);
    }
    const invited = { email: "guest@example.com", role: "viewer" };
    expect((await withKey.post(`${organization}/invitations`, invited)).status).toBe(403);
    expect((await withKey.delete(`${organization}/members/${viewer.id}`)).status).toBe(200);
    expect((await withKey.get(artist)).status).toBe(404);
  });

  it("stops the work for an artist of a member that becomes one", async () => {
    const member = await createPerson();
    const { withKey } = owner;
    const organization = accounts.organization ?? "";
    await joinOrganization(withKey, organization, member);
    const { turnId } = await createRunCredential(member.id, "key");
    await sql`update turns set artist_id = ${accounts.artist ?? ""} where id = ${turnId}`;
    const path = `/api/organizations/${organization}/members/${member.id}`;
    expect((await withKey.patch(path, { role: "viewer" })).status).toBe(200);
    const [turn] = await sql`select stop_requested_at from turns where id = ${turnId}`;
    expect(turn?.stop_requested_at).not.toBeNull();
  });
});
