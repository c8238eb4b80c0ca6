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
