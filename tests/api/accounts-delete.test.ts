import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { makeMedia } from "../support/fixtures/media.ts";
import {
  inviteTo,
  joinOrganization,
  makeArtist,
  makeOrganization,
} from "../support/fixtures/people.ts";
import { sandboxFolderExists, writeSandboxFile } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { client, createBearer, createPerson, type Person } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const PATH = "/api/accounts/me";
const made = z.object({ session: z.object({ id: z.string() }) });

const erase = ({ email, withKey }: Person) => withKey.delete(PATH, { body: { confirm: email } });

async function createSession({ withKey }: Person): Promise<string> {
  const { session } = made.parse((await withKey.post("/api/sessions", {})).body);
  await withKey.post("/api/sandbox", { sessionId: session.id });
  await writeSandboxFile(session.id, "notes.txt", "theirs");
  return session.id;
}

describe("DELETE /api/accounts/me 200", () => {
  test("rows, media, sandboxes and credentials are gone, and others' data stays", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const organization = await makeOrganization(other.withKey);
    await joinOrganization(other.withKey, organization, person);
    const [sessionId, artist, shared, template, url] = await Promise.all([
      createSession(person),
      makeArtist(person.withKey),
      makeArtist(person.withKey, organization),
      createTemplate(person.withKey),
      makeMedia(person.id, await makeImage(), "image/png"),
    ]);
    await inviteTo(other.withKey, await makeOrganization(other.withKey), person.email);
    const body = { confirm: person.email.toUpperCase() };
    const answer = await person.withKey.delete(PATH, { body });
    expect([answer.status, answer.body]).toEqual([200, { status: "success" }]);

    expect((await person.withKey.get(PATH)).status).toBe(401);
    expect((await fetch(url)).status).toBe(404);
    expect(await sandboxFolderExists(sessionId)).toBe(false);
    const [left] = await sql`
      select
        (select count(*)::int from accounts where id in (${person.id}, ${artist})) as accounts,
        (select count(*)::int from agent_templates where id = ${template.id}) as templates,
        (select count(*)::int from agent_template_versions
          where template_id = ${template.id}) as versions,
        (select count(*)::int from sessions where id = ${sessionId}) as sessions,
        (select count(*)::int from organization_accounts where account_id = ${person.id}) as members,
        (select count(*)::int from organization_invitations where email = ${person.email}) as invitations,
        (select count(*)::int from removals
          where owner_id = ${person.id} and removed_at is null) as removals`;
    expect({ ...left }).toEqual({
      accounts: 0,
      templates: 0,
      versions: 0,
      sessions: 0,
      members: 0,
      invitations: 0,
      removals: 0,
    });
    expect((await other.withKey.get(`/api/artists/${shared}`)).status).toBe(200);
  });

  test("the same address starts again", async () => {
    const person = await createPerson();
    await makeArtist(person.withKey);
    expect((await erase(person)).status).toBe(200);
    // One that is issued after the second of the deletion.
    const iat = Math.floor(Date.now() / 1000) + 2;
    const again = client({ bearer: await createBearer(person.email, { iat }) });
    const { body } = await again.get(PATH);
    const { account } = z
      .object({ account: z.object({ id: z.string(), email: z.string() }) })
      .parse(body);
    expect(account.email).toBe(person.email);
    expect(account.id).not.toBe(person.id);
    expect((await again.get("/api/artists")).body).toMatchObject({ artists: [] });
  });

  test("data that a dead process left outside of the database is recorded for the retention job", async () => {
    const person = await createPerson();
    const sessionId = await createSession(person);
    await makeMedia(person.id, await makeImage(), "image/png");
    // The last step of the deletion, and nothing after it.
    await sql`select delete_account(${person.id}, ${person.email}, ${randomUUID()})`;
    const media = await sql`select from removals where owner_id = ${person.id}`;
    const sandboxes = await sql`select from removals where owner_id = ${sessionId}`;
    expect([media.length, sandboxes.length]).toEqual([1, 1]);
  });

  test("a deletion that was cut before its end can be repeated", async () => {
    const person = await createPerson();
    const sessions = [await createSession(person), await createSession(person)];
    await sql`select leave_organizations(${person.id}, ${person.email})`;
    await person.withKey.delete(`/api/sessions/${sessions[0]}`);
    expect((await erase(person)).status).toBe(200);
    expect(await sandboxFolderExists(sessions[1] ?? "")).toBe(false);
  });
});

describe("DELETE /api/accounts/me 400", () => {
  test("without the account's own address nothing is deleted", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    await createSession(person);
    for (const confirm of [other.email, "nobody@example.com"]) {
      const answer = await person.withKey.delete(PATH, { body: { confirm } });
      const error = "confirm must be the account's e-mail address";
      expectError(answer, 400, "error", error);
    }
    expect((await person.withKey.delete(PATH)).status).toBe(400);
    const { body } = await person.withKey.get("/api/sessions");
    expect(body).toMatchObject({ sessions: [expect.anything()] });
    expect((await other.withKey.get(PATH)).status).toBe(200);
  });
});

describe("DELETE /api/accounts/me 409", () => {
  test("the last owner of an organization stays, with everything", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const joined = await makeOrganization(other.withKey);
    await joinOrganization(other.withKey, joined, person);
    const own = await makeOrganization(person.withKey);
    await joinOrganization(person.withKey, own, other);
    await createSession(person);
    const refused = await erase(person);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([409, "conflict"]);
    expect((await person.withKey.get(PATH)).body).toMatchObject({
      organizations: [{ organization_id: own }, { organization_id: joined }],
    });
    expect((await person.withKey.get("/api/sessions")).body).toMatchObject({
      sessions: [expect.anything()],
    });
    const promotion = `/api/organizations/${own}/members/${other.id}`;
    await person.withKey.patch(promotion, { role: "owner" });
    expect((await erase(person)).status).toBe(200);
    expect((await other.withKey.get(`/api/organizations/${own}`)).status).toBe(200);
  });

  test("of two owners who delete their accounts at once, one stays", async () => {
    const [one, other] = await Promise.all([createPerson(), createPerson()]);
    const ids = [await makeOrganization(one.withKey), await makeOrganization(one.withKey)];
    for (const id of ids) await joinOrganization(one.withKey, id, other, "owner");
    const answers = await Promise.all([erase(one), erase(other)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
