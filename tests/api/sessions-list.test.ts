import { describe, expect, test } from "vitest";
import type { paths } from "../generated/api.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

type Query = paths["/api/sessions"]["get"]["parameters"]["query"];

async function readPage(caller: Client, query: Query = {}) {
  const asked = await caller.api.GET("/api/sessions", { params: { query } });
  if (!asked.data) throw new Error(JSON.stringify(asked.error));
  return { ...asked.data, link: asked.response.headers.get("link") };
}

async function makeSessions(caller: Client, count: number): Promise<string[]> {
  const titles = Array.from({ length: count }, (_, index) => `session ${index}`);
  for (const title of titles) await caller.post("/api/sessions", { title });
  return titles;
}

describe("GET /api/sessions 200", () => {
  test("an account without sessions has an empty page", async () => {
    const person = await createPerson();
    expect(await readPage(person.withKey)).toEqual({ sessions: [], next_cursor: null, link: null });
  });

  test("pages, newest first, contain every session once, including simultaneous ones", async () => {
    const person = await createPerson();
    const titles = await makeSessions(person.withKey, 7);
    await sql`update sessions set created_at = '2026-01-02 03:04:05.678901+00'
      where account_id = ${person.id} and title in ('session 1', 'session 2', 'session 3')`;
    const seen: string[] = [];
    let query: Query = { limit: 2 };
    for (;;) {
      const { sessions, next_cursor } = await readPage(person.withKey, query);
      seen.push(...sessions.map((item) => item.title));
      if (next_cursor === null) break;
      query = { limit: 2, cursor: next_cursor };
    }
    expect(seen.slice(0, 4)).toEqual(["session 6", "session 5", "session 4", "session 0"]);
    expect(seen.toSorted()).toEqual(titles.toSorted());
  });

  test("the link header leads to the next page, and the last page has none", async () => {
    const person = await createPerson();
    await makeSessions(person.withKey, 2);
    const first = await readPage(person.withKey, { limit: 1 });
    const next = /^<(\/api\/sessions)(\?[^>]+)>; rel="next"$/.exec(first.link ?? "");
    const { limit, ...query } = Object.fromEntries(new URLSearchParams(next?.[2]));
    const last = await readPage(person.withKey, { limit: Number(limit), ...query });
    expect([...first.sessions, ...last.sessions].map((item) => item.title)).toEqual([
      "session 1",
      "session 0",
    ]);
    expect(last).toMatchObject({ next_cursor: null, link: null });
  });

  test("a session made between two pages neither repeats nor hides an older one", async () => {
    const person = await createPerson();
    await makeSessions(person.withKey, 3);
    const first = await readPage(person.withKey, { limit: 2 });
    await person.withKey.post("/api/sessions", { title: "late" });
    const second = await readPage(person.withKey, { limit: 2, cursor: first.next_cursor ?? "" });
    expect(second.sessions.map((item) => item.title)).toEqual(["session 0"]);
  });

  test("twenty is the page when no limit is given", async () => {
    const person = await createPerson();
    await makeSessions(person.withKey, 21);
    const { sessions, next_cursor } = await readPage(person.withKey);
    expect(sessions).toHaveLength(20);
    expect(next_cursor).not.toBeNull();
  });
});

describe("GET /api/sessions 400", () => {
  const cursorOf = (text: string) => Buffer.from(text).toString("base64url");
  const id = "3f9a13dd-c906-494e-a89b-a59fa142b564";

  test.each([
    ["limit=0", "limit must be at least 1"],
    ["limit=101", "limit must be at most 100"],
    ["limit=ten", "limit must be a number"],
    ["cursor=%F0%9F%8E%B5", "cursor is invalid"],
    [`cursor=${cursorOf(`2026-02-30T00:00:00.000000Z ${id}`)}`, "cursor is invalid"],
    [`cursor=${cursorOf("2026-02-20T00:00:00.000000Z 0")}`, "cursor is invalid"],
    ["cursor=", "cursor is invalid"],
  ])("%s is refused", async (query, sentence) => {
    const person = await createPerson();
    expectError(await person.withKey.get(`/api/sessions?${query}`), 400, "error", sentence);
  });
});
