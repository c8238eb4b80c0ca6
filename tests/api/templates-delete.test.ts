import { describe, expect, test } from "vitest";
import { createTemplate, setFavorite, templateNotFound } from "../support/fixtures/templates.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/agents/templates/${id}`;
const rowsLeft = (id: string) => sql`
  select template_id from agent_template_shares where template_id = ${id}
  union all select template_id from agent_template_favorites where template_id = ${id}
  union all select id from agent_templates where id = ${id}`;

describe("DELETE /api/agents/templates/{id} 200", () => {
  test("the template, its shares and its favourites are gone, with either credential", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    for (const caller of [owner.withKey, owner.withBearer]) {
      const { id } = await createTemplate(owner.withKey, {
        is_private: true,
        share_emails: [friend.email],
      });
      await setFavorite(friend.withKey, id, true);
      const answer = await caller.delete(pathOf(id));
      expect([answer.status, answer.body]).toEqual([200, { status: "success" }]);
      expect(await rowsLeft(id)).toHaveLength(0);
      const read = await owner.withKey.get(pathOf(id));
      expect([read.status, read.text]).toEqual([404, templateNotFound]);
    }
  });

  test("of twenty deletions at once one succeeds", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey);
    const answers = await Promise.all(Array.from({ length: 20 }, () => withKey.delete(pathOf(id))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 404),
    ]);
  });

  test("favourites and shares written at the same moment go with it", async () => {
    const [owner, ...others] = await Promise.all(Array.from({ length: 9 }, () => createPerson()));
    if (!owner) throw new Error("nobody");
    for (let round = 0; round < 5; round++) {
      const { id } = await createTemplate(owner.withKey);
      const [deleted, patched, ...favourites] = await Promise.all([
        owner.withKey.delete(pathOf(id)),
        owner.withKey.patch(pathOf(id), { is_private: true, share_emails: ["a@example.com"] }),
        ...others.map(({ withKey }) => setFavorite(withKey, id, true)),
      ]);
      expect(deleted.status).toBe(200);
      for (const { status } of [patched, ...favourites]) expect([200, 404]).toContain(status);
      expect(await rowsLeft(id)).toHaveLength(0);
    }
  });
});

describe("DELETE /api/agents/templates/{id} 403", () => {
  test("who can see it is told that only the owner may, and it stays", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const templates = await Promise.all([
      createTemplate(owner.withKey),
      createTemplate(owner.withKey, { is_private: true, share_emails: [friend.email] }),
    ]);
    for (const { id } of templates) {
      const answer = await friend.withKey.delete(pathOf(id));
      expect([answer.status, answer.body]).toEqual([
        403,
        { status: "error", error: "Only the owner can delete this template", missing_fields: [] },
      ]);
      expect(answer.headers.get("x-error-code")).toBe("not_owner");
      expect((await owner.withKey.get(pathOf(id))).status).toBe(200);
    }
  });
});
