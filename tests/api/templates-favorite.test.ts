import { describe, expect, test } from "vitest";
import { createTemplate, setFavorite, templateIn } from "../support/fixtures/templates.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/agents/templates/${id}`;

describe("PUT /api/agents/templates/{id}/favorite 200", () => {
  test("setting and removing it twice counts once, and only the caller has it", async () => {
    const [owner, fan] = await Promise.all([createPerson(), createPerson()]);
    const created = await createTemplate(owner.withKey);
    for (const [isFavourite, count] of [
      [true, 1],
      [true, 1],
      [false, 0],
      [false, 0],
    ] as const) {
      const seen = templateIn(await setFavorite(fan.withKey, created.id, isFavourite));
      expect(seen).toEqual({ ...created, is_favourite: isFavourite, favorites_count: count });
      expect(templateIn(await owner.withKey.get(pathOf(created.id)))).toEqual({
        ...created,
        favorites_count: count,
      });
    }
  });

  test("whom a private template is shared with may like it", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const { id } = await createTemplate(owner.withKey, {
      is_private: true,
      share_emails: [friend.email],
    });
    const seen = templateIn(await setFavorite(friend.withBearer, id, true));
    expect(seen).toMatchObject({ is_favourite: true, favorites_count: 1, shared_emails: [] });
  });

  test("fifty favourites at once count fifty, however often each is repeated", async () => {
    const owner = await createPerson();
    const fans = await Promise.all(Array.from({ length: 50 }, () => createPerson()));
    const { id } = await createTemplate(owner.withKey);
    const answers = await Promise.all(
      [...fans, ...fans].map(({ withKey }) => setFavorite(withKey, id, true)),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(templateIn(await owner.withKey.get(pathOf(id))).favorites_count).toBe(50);
    await Promise.all(fans.slice(10).map(({ withKey }) => setFavorite(withKey, id, false)));
    expect(templateIn(await owner.withKey.get(pathOf(id))).favorites_count).toBe(10);
  });

  test("the favourites of an account that is deleted do not count any more", async () => {
    const [owner, fan] = await Promise.all([createPerson(), createPerson()]);
    const { id } = await createTemplate(owner.withKey);
    await setFavorite(owner.withKey, id, true);
    await setFavorite(fan.withKey, id, true);
    await sql`delete from accounts where id = ${fan.id}`;
    expect(templateIn(await owner.withKey.get(pathOf(id))).favorites_count).toBe(1);
  });
});
