import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chat } from "../../lib/sessions/session.ts";
import { createPersonWithSession, createSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";

const page = z.strictObject({
  chats: z.array(z.strictObject(chat.shape)),
  next_cursor: z.string().nullable(),
});

describe("GET /api/sessions/{sessionId}/chats 200", () => {
  test("pages, newest first, hold every chat of the session once and none of another", async () => {
    const { person, session, chat: first } = await createPersonWithSession();
    await createSession(person.withKey);
    const path = `/api/sessions/${session.id}/chats`;
    for (const title of ["b", "c", "d"]) await person.withKey.post(path, { title });
    const seen: string[] = [];
    let next: string | undefined = `${path}?limit=3`;
    while (next) {
      const answer = await person.withBearer.get(next);
      expect(answer.status).toBe(200);
      seen.push(...page.parse(answer.body).chats.map((item) => item.title || item.id));
      next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    expect(seen).toEqual(["d", "c", "b", first.id]);
  });
});

describe("GET /api/sessions/{sessionId}/chats 400", () => {
  test("a limit out of range and a made-up cursor are refused", async () => {
    const { person, session } = await createPersonWithSession();
    const path = `/api/sessions/${session.id}/chats`;
    for (const [query, error] of [
      ["limit=1000", "limit must be at most 100"],
      ["cursor=abc", "cursor is invalid"],
    ]) {
      expectError(await person.withKey.get(`${path}?${query}`), 400, "error", error);
    }
  });
});
