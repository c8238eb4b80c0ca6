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
    const read = await person.withKey.get(`/api/sessions/${session.id}`);
    expect(read.body).toEqual(answer.body);
  });
});

describe("PATCH /api/sessions/{sessionId} 400", () => {
  test.each([
    [{}, "title is required"],
    [{ title: null }, "title must be a string"],
    [{ title: "x".repeat(201) }, "title must be at most 200 characters"],
  ])("%j is refused", async (body, sentence) => {
    const person = await createPerson();
    const { session } = await createSession(person.withKey);
    const answer = await person.withKey.patch(`/api/sessions/${session.id}`, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ status: "error", error: sentence });
  });
});

describe("PATCH /api/sessions/{sessionId} 404", () => {
  test("a foreign session keeps its title and answers as a missing one", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const { session } = await createSession(owner.withKey, { title: "Mine" });
    for (const id of [session.id, randomUUID()]) {
      const answer = await other.withKey.patch(`/api/sessions/${id}`, { title: "Yours" });
      expect(answer.status).toBe(404);
      expect(answer.text).toBe('{"status":"error","error":"Session not found"}');
    }
    const read = await owner.withKey.get(`/api/sessions/${session.id}`);
    expect(read.body).toEqual({ session });
  });
});
