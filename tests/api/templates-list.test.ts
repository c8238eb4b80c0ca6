import { describe, expect, test } from "vitest";
import type { paths } from "../generated/api.ts";
import { createTemplate, setFavorite } from "../support/fixtures/templates.ts";
import { type Client, createPerson, dataOf } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const path = "/api/agents/templates";
type Query = paths[typeof path]["get"]["parameters"]["query"];

async function readPage(caller: Client, query: Query = {}) {
  const asked = await caller.api.GET(path, { params: { query } });
  if (!asked.data) throw new Error(JSON.stringify(asked.error));
  return { ...asked.data, link: asked.response.headers.get("link") };
}

/** The list contains public templates of other tests, so the tests compare ids. */
async function readAll(caller: Client, limit = 100, start = "") {
  const templates: Awaited<ReturnType<typeof readPage>>["templates"] = [];
  for (let cursor: string | null = start; cursor !== null; ) {
    const query: Query = { limit, ...(cursor && { cursor }) };
    const read: Awaited<ReturnType<typeof readPage>> = await readPage(caller, query);
    templates.push(...read.templates);
    cursor = read.next_cursor;
  }
  return templates;
}

describe("GET /api/agents/templates 200", () => {
  test("the caller's own, the public ones and those shared with the caller, no others", async () => {
    const [caller, other] = await Promise.all([createPerson(), createPerson()]);
    const own = await createTemplate(caller.withKey, { is_private: true });
    const open = await createTemplate(other.withKey);
    const shared = await createTemplate(other.withKey, {
      is_private: true,
      share_emails: [caller.email.toUpperCase(), "someone@example.com"],
    });
    const hidden = await createTemplate(other.withKey, { is_private: true });
    for (const credential of [caller.withKey, caller.withBearer]) {
      const seen = await readAll(credential);
      const ids = seen.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining([own.id, open.id, shared.id]));
      expect(ids).not.toContain(hidden.id);
      expect(seen.every((one) => !one.is_private || [own.id, shared.id].includes(one.id))).toBe(
        true,
      );
      expect(seen.find(({ id }) => id === shared.id)?.shared_emails).toEqual([]);
    }
  });

  test("one that is seen in two ways is listed once", async () => {
    const caller = await createPerson();
    const own = await createTemplate(caller.withKey);
    const shared = await createTemplate(caller.withKey, {
      is_private: true,
      share_emails: [caller.email],
    });
    const ids = (await readAll(caller.withKey)).map(({ id }) => id);
    expect(ids.filter((id) => [own.id, shared.id].includes(id))).toEqual([shared.id, own.id]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("each has what the single one has, as the caller sees it", async () => {
    const [caller, other] = await Promise.all([createPerson(), createPerson()]);
    const own = await createTemplate(caller.withKey, {
      is_private: true,
      share_emails: ["a@example.com"],
    });
    const { id } = await createTemplate(other.withKey);
    await setFavorite(caller.withKey, id, true);
    const seen = await readAll(caller.withKey);
    for (const one of [own.id, id]) {
      const params = { path: { id: one } };
      const read = caller.withKey.api.GET("/api/agents/templates/{id}", { params });
      expect((await dataOf(read)).template).toEqual(seen.find((item) => item.id === one));
    }
    expect(seen.find((item) => item.id === id)).toMatchObject({
      is_favourite: true,
      favorites_count: 1,
    });
  });

  test("pages of any size are newest first and together the whole, once each", async () => {
    const [caller, other] = await Promise.all([createPerson(), createPerson()]);
    const mine: string[] = [];
    for (let index = 0; index < 4; index++) {
      mine.push((await createTemplate(caller.withKey, { is_private: true })).id);
      const share_emails = [caller.email];
      mine.push((await createTemplate(other.withKey, { is_private: true, share_emails })).id);
      mine.push((await createTemplate(other.withKey)).id);
    }
    // Long ago, where no other test's are. The same moment for some: their order is then by id.
    const same = mine.slice(0, 6);
    const later = mine.slice(6);
    const put = async (ids: string[], at: string) => {
      await sql`update agent_templates set created_at = ${at} where id in ${sql(ids)}`;
      await sql`update agent_template_shares set template_created_at = ${at}
        where template_id in ${sql(ids)}`;
    };
    await put(same, "2001-01-01");
    for (const [index, id] of later.entries()) await put([id], `2001-02-0${index + 1}`);
    const last = "2002-01-01T00:00:00.000000Z ffffffff-ffff-ffff-ffff-ffffffffffff";
    for (const limit of [1, 2, 5, 100]) {
      const seen = await readAll(caller.withKey, limit, Buffer.from(last).toString("base64url"));
      expect(seen.map(({ id }) => id)).toEqual([
        ...later.toReversed(),
        ...same.toSorted().toReversed(),
      ]);
    }
  });

  test("an account without an address sees what is public", async () => {
    const person = await createPerson();
    const open = await createTemplate(person.withKey);
    await sql`update accounts set email = null where id = ${person.id}`;
    expect((await readAll(person.withKey)).map(({ id }) => id)).toContain(open.id);
  });

  test("a page reads its own rows and no more, among ten thousand templates", async () => {
    const [caller, other] = await Promise.all([createPerson(), createPerson()]);
    const found = await sql.begin(async (transaction) => {
      await transaction`insert into agent_templates
          (account_id, title, description, prompt, tags, is_private, created_at)
        select ${other.id}, 'One of many', 'One of very many', 'A prompt that is long enough', '{}',
          n % 2 = 0, now() - n * interval '1 second'
        from generate_series(1, 10000) n`;
      await transaction`insert into agent_template_shares (template_id, email, template_created_at)
        select id, 'someone@example.com', created_at from agent_templates
        where account_id = ${other.id} and is_private`;
      await transaction`analyze agent_templates`;
      await transaction`analyze agent_template_shares`;
      // The plan that the planner settles on after several calls, and the rows read, from the
      // statistics of this transaction.
      await transaction`set local plan_cache_mode = force_generic_plan`;
      const count = () => transaction<{ read: string }[]>`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as read
        from pg_stat_xact_user_tables where relname like 'agent_template%'`;
      const [before] = await count();
      await transaction`select list_agent_templates(${caller.id}, 20, 'infinity',
        'ffffffff-ffff-ffff-ffff-ffffffffffff')`;
      const [after] = await count();
      await transaction`delete from agent_templates where account_id = ${other.id}`;
      return Number(after?.read) - Number(before?.read);
    });
    expect(found).toBeGreaterThan(20);
    expect(found).toBeLessThan(200);
  });
});
