import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { inviteTo, joinOrganization, makeOrganization } from "../support/fixtures/people.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { mailsTo } from "../support/harness/mailbox.ts";
import { sql } from "../support/harness/stack.ts";

const sentBy = (id: string) => `/api/organizations/${id}/invitations`;
const missing = { status: "error", error: "Invitation not found" };
const list = z.object({ invitations: z.array(z.record(z.string(), z.unknown())) });
const received = async ({ withKey }: Person) =>
  list.parse((await withKey.get("/api/invitations")).body).invitations;

async function createOwner() {
  const owner = await createPerson();
  return { ...owner, organization: await makeOrganization(owner.withKey) };
}

describe("POST /api/organizations/{id}/invitations", () => {
  test("201: mails a link, and the invitation lasts seven days", async () => {
    const { withKey, organization, email: inviter } = await createOwner();
    const email = `${randomUUID()}@example.com`;
    const body = { email: email.toUpperCase(), role: "member" };
    const answer = await withKey.post(sentBy(organization), body);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: "success",
        invitation: {
          id: expect.any(String),
          email,
          role: "member",
          artist_ids: null,
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
      },
    ]);
    const { invitation } = z
      .object({ invitation: z.object({ created_at: z.string(), expires_at: z.string() }) })
      .parse(answer.body);
    const days =
      (Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)) / 86_400_000;
    expect(Math.round(days * 1000) / 1000).toBe(7);
    const [mail = "", ...more] = await mailsTo(email);
    expect(more).toEqual([]);
    const text = mail.replaceAll("=\r\n", "");
    expect(text).toContain("/invitations");
    expect(text).toContain(inviter);
  });

  test("201: an account and an address without one are answered alike", async () => {
    const [{ withKey, organization }, known] = await Promise.all([createOwner(), createPerson()]);
    const bodies = [known.email, `${randomUUID()}@example.com`].map(async (email) => {
      const answer = await withKey.post(sentBy(organization), { email, role: "member" });
      return answer.text.replaceAll(/[0-9a-f-]{36}/g, "").replaceAll(/\d{4}-[^"]*Z/g, "");
    });
    const [one, other] = await Promise.all(bodies);
    expect(one).toBe(other);
  });

  test("201: a second invitation replaces the first", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const first = await inviteTo(withKey, organization, person.email);
    const second = await inviteTo(withKey, organization, person.email, "owner");
    expect(await received(person)).toMatchObject([{ id: second, role: "owner" }]);
    const late = await person.withKey.post(`/api/invitations/${first}/accept`);
    expect([late.status, late.body]).toEqual([404, missing]);
  });

  test("201: the mail has no link from the organization's name", async () => {
    const { withKey } = await createPerson();
    const organization = await makeOrganization(
      withKey,
      "Click https://evil.example/x, www.evil.example",
    );
    const email = `${randomUUID()}@example.com`;
    await inviteTo(withKey, organization, email);
    const [mail = ""] = await mailsTo(email);
    const text = mail.replaceAll("=\r\n", "").replaceAll(/\r\n /g, " ");
    expect(text).toContain("Click https[:]//evil[.]example/x, www[.]evil[.]example");
    expect(text).not.toContain("evil.example");
  });

  test("201: an address gets at most five mails a day, and sees every invitation", async () => {
    const person = await createPerson();
    const owners = await Promise.all(Array.from({ length: 7 }, createOwner));
    for (const { withKey, organization } of owners) {
      await inviteTo(withKey, organization, person.email);
    }
    expect(await received(person)).toHaveLength(7);
    expect(await mailsTo(person.email)).toHaveLength(5);
  });

  test("403: a member neither invites nor sees who is invited", async () => {
    const [{ withKey, organization }, member] = await Promise.all([createOwner(), createPerson()]);
    await joinOrganization(withKey, organization, member);
    const id = await inviteTo(withKey, organization, `${randomUUID()}@example.com`);
    const path = sentBy(organization);
    for (const answer of [
      await member.withKey.post(path, { email: "a@example.com", role: "member" }),
      await member.withKey.get(path),
      await member.withKey.delete(`${path}/${id}`),
    ]) {
      expect(answer.status).toBe(403);
    }
  });

  test("403: an organization has at most 100 open invitations", async () => {
    const { withKey, organization } = await createOwner();
    await sql`insert into organization_invitations (organization_id, email, role, expires_at)
      select ${organization}, n || '@example.com', 'member', now() + interval '1 day'
      from generate_series(1, 100) n`;
    const refused = await withKey.post(sentBy(organization), {
      email: "x@example.com",
      role: "member",
    });
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "quota_exceeded"]);
    // In place of one of them there is room.
    await inviteTo(withKey, organization, "1@example.com");
  });

  test("409: a member's address", async () => {
    const { withKey, organization, email } = await createOwner();
    expect((await withKey.post(sentBy(organization), { email, role: "member" })).status).toBe(409);
  });

  test("429: an account sends at most 50 a day, withdrawn ones included", async () => {
    const { id, withKey, organization } = await createOwner();
    await sql`insert into organization_invitations
        (organization_id, invited_by, email, role, status, expires_at)
      select ${organization}, ${id}, n || '@example.com', 'member', 'withdrawn', now()
      from generate_series(1, 50) n`;
    const answer = await withKey.post(sentBy(organization), {
      email: "a@example.com",
      role: "member",
    });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3600"]);
  });
});

describe("GET and DELETE /api/organizations/{id}/invitations", () => {
  test("200: lists the open ones, and a withdrawn one is gone for both", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const gone = await inviteTo(withKey, organization, person.email);
    const kept = await inviteTo(withKey, organization, `${randomUUID()}@example.com`);
    const path = sentBy(organization);
    expect((await withKey.delete(`${path}/${gone}`)).status).toBe(200);
    expect((await withKey.delete(`${path}/${gone}`)).body).toEqual(missing);
    const { invitations } = list.parse((await withKey.get(path)).body);
    expect(invitations.map(({ id }) => id)).toEqual([kept]);
    expect(await received(person)).toEqual([]);
  });
});

describe("GET /api/invitations 200", () => {
  test("shows the name of the organization, and nothing else of it before acceptance", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const id = await inviteTo(withKey, organization, person.email);
    const found = await received(person);
    expect(found).toEqual([
      {
        id,
        role: "member",
        organization_name: "Velvet Harbor",
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    const answers = await Promise.all(
      ["", "/members", "/invitations"].map((below) =>
        person.withKey.get(`/api/organizations/${organization}${below}`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    const own = await person.withKey.get("/api/organizations");
    expect(own.body).toMatchObject({ organizations: [] });
    const session = await person.withKey.post("/api/sessions", { organization_id: organization });
    expect(session.status).toBe(403);
    // Its members cannot act for a person who has not accepted.
    expect((await withKey.get(`/api/tasks/runs?account_id=${person.id}`)).status).toBe(403);
  });
});

describe("POST /api/invitations/{id}/accept and /decline", () => {
  test("200: accepting makes a member with the role, once", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const id = await inviteTo(withKey, organization, person.email, "owner");
    const accept = () => person.withKey.post(`/api/invitations/${id}/accept`);
    const answers = await Promise.all([accept(), accept()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    const body = answers.find(({ status }) => status === 200)?.body;
    expect(body).toMatchObject({ organization: { organization_id: organization, role: "owner" } });
    expect(await received(person)).toEqual([]);
  });

  test("200: declining makes no member, and ends the invitation", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const id = await inviteTo(withKey, organization, person.email);
    expect((await person.withBearer.post(`/api/invitations/${id}/decline`)).status).toBe(200);
    expect((await person.withKey.post(`/api/invitations/${id}/accept`)).body).toEqual(missing);
    expect((await person.withKey.get(`/api/organizations/${organization}`)).status).toBe(404);
  });

  test("404: for anyone but the invited address, and after its end", async () => {
    const [{ withKey, organization }, person, other] = await Promise.all([
      createOwner(),
      createPerson(),
      createPerson(),
    ]);
    const id = await inviteTo(withKey, organization, person.email);
    for (const [caller, one] of [
      [other.withKey, id],
      [withKey, id],
      [person.withKey, randomUUID()],
    ] as const) {
      for (const verb of ["accept", "decline"]) {
        const answer = await caller.post(`/api/invitations/${one}/${verb}`);
        expect([answer.status, answer.body]).toEqual([404, missing]);
      }
    }
    await sql`update organization_invitations set expires_at = now() where id = ${id}`;
    expect(await received(person)).toEqual([]);
    expect((await person.withKey.post(`/api/invitations/${id}/accept`)).status).toBe(404);
  });

  test("403: an organization has at most 500 members, and the invitation stays open", async () => {
    const [{ withKey, organization }, person] = await Promise.all([createOwner(), createPerson()]);
    const id = await inviteTo(withKey, organization, person.email);
    await sql`with made as (
        insert into accounts (kind, email)
        select 'personal', gen_random_uuid() || '@example.com' from generate_series(1, 499)
        returning id)
      insert into organization_accounts (organization_id, account_id)
      select ${organization}, id from made`;
    const refused = await person.withKey.post(`/api/invitations/${id}/accept`);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([
      403,
      "organization_full",
    ]);
    expect(await received(person)).toHaveLength(1);
  });
});
