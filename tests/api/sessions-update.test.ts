import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createSession } from "../support/fixtures/sessions.ts";
import { createPerson } from "../support/harness/clients.ts";

describe("PATCH /api/sessions/{sessionId} 200", () => {
  test("the title changes, trimmed, and nothing else but updatedAt", async () => {
    const person = await createPerson();
    const { session } = await createSession(person.withKey, { title: "Old" });
    const answer = await person.withKey.patch(`/api/sessions/${session.id}`, {
      title: "  Ünïcode 🎵  ",
      status: "archived",
      accountId: randomUUID(),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      session: { ...session, title: "Ünïcode 🎵", updatedAt: expect.any(String) },
    });
    expect((await person.withKey.get(`/api/sessions/${session.id}`)).body).toEqual(answer.body);
  });
});
