import { describe, expect, test } from "vitest";
import type { paths } from "../generated/api.ts";
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
  test("pages, newest first, hold every session once, also those of one instant", async () => {
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
});
