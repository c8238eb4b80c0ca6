/** A viewer of an organization reads what a member reads, and changes nothing: asked of every operation that names accounts. */
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { joinOrganization, makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { fillPath, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql } from "../support/harness/stack.ts";
import { rows } from "./rows.ts";
import { callers, sentences } from "./table.ts";
import { lines, titleOf } from "./table-suite.ts";

let owner: Person;
let viewer: Person;
let accounts: Readonly<Record<string, string>>;
beforeAll(async () => {
  [owner, viewer] = await Promise.all([createPerson(), createPerson()]);
  const organization = await makeOrganization(owner.withKey);
  const artist = await makeArtist(owner.withKey, organization);
  await joinOrganization(owner.withKey, organization, viewer, "viewer");
  accounts = { owner: owner.id, organization, artist };
});

const ofOthers = lines.filter(({ whose }) => /^(owner|organization|artist)$/.test(whose ?? ""));

describe("a viewer", () => {
  it.each(ofOthers.map((line) => [titleOf(line), line] as const))("%s", async (_, line) => {
    const { name, field, whose, cells } = line;
    const contract = contracts.find((one) => nameOf(one) === name.replace(/ \(\w+\)$/, ""));
    const [row, member] = [rows[name], cells[callers.indexOf("member")]];
    if (!contract || !row || !member || !field || !whose) throw new Error("No row of the table");
    const ids = await row.arrange(owner, await createRunCredential(owner.id, "key"));
    const named = { [field]: accounts[whose] ?? "" };
    const query = new URLSearchParams({ ...row.query?.(ids), ...(contract.body ? {} : named) });
    const path = `${fillPath(contract.path, ids)}?${query}`;
    const body = contract.body && { body: { ...row.body?.(ids), ...named } };
    const answer = await viewer.withKey.request(contract.method, path, { ...body });
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
