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
  const over = (length: number) => "x".repeat(length + 1);
  const emails = Array.from({ length: 101 }, (_, index) => `person${index}@example.com`);

  test.each([
    [{ title: " ab " }, "title must be at least 3 characters", ["title"]],
    [{ title: over(50) }, "title must be at most 50 characters", ["title"]],
    [{ description: over(200) }, "description must be at most 200 characters", ["description"]],
    [{ description: "123456789" }, "description must be at least 10 characters", ["description"]],
    [{ prompt: "short" }, "prompt must be at least 20 characters", ["prompt"]],
    [{ prompt: over(10_000) }, "prompt must be at most 10000 characters", ["prompt"]],
    [{ tags: undefined }, "tags is required", ["tags"]],
    [{ tags: ["a", 1] }, "tags.1 must be a string", ["tags.1"]],
    [{ is_private: "yes" }, "is_private must be a boolean", ["is_private"]],
    [{ share_emails: emails }, "share_emails must have at most 100 items", ["share_emails"]],
    [
      { is_private: true, share_emails: ["a@example.com", "b"] },
      "share_emails.1 must be a valid e-mail address",
      ["share_emails.1"],
    ],
    [
      { title: 1, prompt: undefined, share_emails: [null] },
      "title must be a string",
      ["title", "prompt", "share_emails.0"],
    ],
  ])("%j is refused, and every field at fault is named", async (values, error, fields) => {
    const person = await createPerson();
    const answer = await person.withKey.post(path, { ...validTemplate, ...values });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ status: "error", error, missing_fields: fields });
    expect(await sql`select 1 from agent_templates where account_id = ${person.id}`).toHaveLength(
      0,
    );
  });

  test("an empty body names every field that is required", async () => {
    const { withKey } = await createPerson();
    expect((await withKey.post(path, {})).body).toEqual({
      status: "error",
      error: "title is required",
      missing_fields: ["title", "description", "prompt", "tags", "is_private"],
    });
  });
});
