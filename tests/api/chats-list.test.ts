import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chat } from "../../lib/sessions/session.ts";
import { createPersonWithSession, createSession } from "../support/fixtures/sessions.ts";

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
