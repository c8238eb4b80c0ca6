import { describe, expect, test } from "vitest";
import { createTemplate, templateIn } from "../support/fixtures/templates.ts";
import { createPerson } from "../support/harness/clients.ts";

const pathOf = (id: string) => `/api/agents/templates/${id}`;

describe("PATCH /api/agents/templates/{id} 200", () => {
  test.each([
    { title: "Another title" },
    { description: "Another description" },
    { prompt: "Another prompt, of at least twenty characters" },
    { tags: [] },
    { share_emails: ["new@example.com"] },
  ])("%j changes, and nothing else but updated_at", async (change) => {
    const { withKey } = await createPerson();
    const { shared_emails, updated_at, ...rest } = await createTemplate(withKey, {
      is_private: true,
      share_emails: ["old@example.com"],
    });
    const { share_emails, ...fields } = { share_emails: shared_emails, ...change };
    const changed = templateIn(await withKey.patch(pathOf(rest.id), change));
    expect(changed).toEqual({
      ...rest,
      ...fields,
      shared_emails: share_emails,
      version: "share_emails" in change ? 1 : 2,
      updated_at: expect.any(String),
    });
    expect(changed.updated_at > updated_at).toBe(true);
    expect(templateIn(await withKey.get(pathOf(rest.id)))).toEqual(changed);
  });

  test("the addresses are replaced: who is not among them any more sees nothing", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const { id } = await createTemplate(owner.withKey, {
      is_private: true,
      share_emails: [friend.email],
    });
    expect((await friend.withKey.get(pathOf(id))).status).toBe(200);
    await owner.withKey.patch(pathOf(id), { share_emails: [] });
    expect((await friend.withKey.get(pathOf(id))).status).toBe(404);
  });

  test("going public removes the addresses permanently", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey, {
      is_private: true,
      share_emails: ["a@example.com"],
    });
    const open = await withKey.patch(pathOf(id), {
      is_private: false,
      share_emails: ["b@example.com"],
    });
    const closed = await withKey.patch(pathOf(id), { is_private: true });
    expect(templateIn(open)).toMatchObject({ is_private: false, shared_emails: [] });
    expect(templateIn(closed)).toMatchObject({ is_private: true, shared_emails: [] });
  });

  test("a public template takes no addresses, and going private it does", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey);
    const share_emails = ["a@example.com"];
    const open = await withKey.patch(pathOf(id), { share_emails });
    const closed = await withKey.patch(pathOf(id), { is_private: true, share_emails });
    expect(templateIn(open).shared_emails).toEqual([]);
    expect(templateIn(closed).shared_emails).toEqual(share_emails);
  });

  test("changes at once leave the addresses of one of them", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey, { is_private: true });
    const lists = Array.from({ length: 20 }, (_, index) => [
      `a${index}@example.com`,
      `b${index}@example.com`,
    ]);
    const answers = await Promise.all(
      lists.map((share_emails) => withKey.patch(pathOf(id), { share_emails })),
    );
    expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 200));
    expect(lists).toContainEqual(templateIn(await withKey.get(pathOf(id))).shared_emails);
  });
});

describe("PATCH /api/agents/templates/{id} 403", () => {
  test("who can see it cannot change it", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const templates = await Promise.all([
      createTemplate(owner.withKey),
      createTemplate(owner.withKey, { is_private: true, share_emails: [friend.email] }),
    ]);
    for (const template of templates) {
      const answer = await friend.withKey.patch(pathOf(template.id), {
        title: "Mine",
        is_private: true,
        share_emails: [],
      });
      expect([answer.status, answer.body]).toEqual([
        403,
        { status: "error", error: "Only the owner can change this template", missing_fields: [] },
      ]);
      expect(templateIn(await owner.withKey.get(pathOf(template.id)))).toEqual(template);
    }
  });
});
