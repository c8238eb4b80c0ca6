import { describe, expect, test } from "vitest";
import { createTemplate, templateIn, validTemplate } from "../support/fixtures/templates.ts";
import {
  client,
  createAccount,
  createKey,
  createPerson,
  link,
} from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const path = "/api/agents/templates";

describe("POST /api/agents/templates 201", () => {
  test("the template comes back with its creator and its counters, and can be read", async () => {
    const person = await createPerson();
    await sql`update accounts set name = 'Ada', image = 'https://example.com/a.png'
      where id = ${person.id}`;
    const answer = await person.withKey.post(path, validTemplate);
    expect(answer.status).toBe(201);
    const created = templateIn(answer);
    expect(created).toEqual({
      ...validTemplate,
      id: expect.any(String),
      creator: {
        id: person.id,
        name: "Ada",
        image: "https://example.com/a.png",
        is_admin: false,
      },
      is_favourite: false,
      favorites_count: 0,
      version: 1,
      shared_emails: [],
      created_at: expect.any(String),
      updated_at: created.created_at,
    });
    const read = await person.withBearer.get(`${path}/${created.id}`);
    expect(templateIn(read)).toEqual(created);
  });

  test("the title is trimmed, two may have the same, and the rest stays as it was sent", async () => {
    const person = await createPerson();
    const values = {
      title: "  Ünïcode 🎵 ",
      description: "  ten and more  ",
      prompt: "  line one\n\tline two, long enough  ",
      tags: ["", "a", "a", "🎵"],
    };
    const [one, other] = await Promise.all([
      createTemplate(person.withKey, values),
      createTemplate(person.withKey, values),
    ]);
    expect(one).toMatchObject({ ...values, title: "Ünïcode 🎵" });
    expect(one.title).toBe(other.title);
    expect(one.id).not.toBe(other.id);
  });

  test("addresses are in lower case, once each, and need no account", async () => {
    const { withKey } = await createPerson();
    const { shared_emails } = await createTemplate(withKey, {
      is_private: true,
      share_emails: ["Zoe@Example.com", "adam@example.com", "ADAM@example.com", "zoe@example.com"],
    });
    expect(shared_emails).toEqual(["adam@example.com", "zoe@example.com"]);
  });

  test("a public template has no addresses", async () => {
    const person = await createPerson();
    const created = await createTemplate(person.withKey, { share_emails: ["a@example.com"] });
    expect(created.shared_emails).toEqual([]);
    const rows = await sql`select 1 from agent_template_shares where template_id = ${created.id}`;
    expect(rows).toHaveLength(0);
  });

  test("the creator is an admin when it belongs to the admin organization", async () => {
    const person = await createPerson();
    const admins = await createAccount({ kind: "organization", isAdmin: true });
    await link(admins.id, person.id);
    const ofMember = await createTemplate(person.withKey);
    const ofOrganization = await createTemplate(client({ key: await createKey(admins.id) }));
    expect([ofMember.creator.is_admin, ofOrganization.creator.is_admin]).toEqual([true, true]);
    await sql`update accounts set is_admin = false where id = ${admins.id}`;
  });
});

describe("POST /api/agents/templates 400", () => {
  test("an empty body names every field that is required", async () => {
    const { withKey } = await createPerson();
    expect((await withKey.post(path, {})).body).toEqual({
      status: "error",
      error: "title is required",
      missing_fields: ["title", "description", "prompt", "tags", "is_private"],
    });
  });
});
