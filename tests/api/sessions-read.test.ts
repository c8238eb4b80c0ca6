import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createSession } from "../support/fixtures/sessions.ts";
import { createPerson, dataOf } from "../support/harness/clients.ts";

describe("GET /api/sessions/{sessionId} 200", () => {
  test("answers what the creation answered, in either case of the id, with either credential", async () => {
    const person = await createPerson();
    const { session } = await createSession(person.withKey, { title: "Tour" });
    for (const caller of [person.withKey, person.withBearer]) {
      for (const id of [session.id, session.id.toUpperCase()]) {
        const params = { path: { sessionId: id } };
        const read = await dataOf(caller.api.GET("/api/sessions/{sessionId}", { params }));
        expect(read).toEqual({ session });
      }
    }
  });
});

describe("GET /api/sessions/{sessionId} 400", () => {
  test("an id that is no UUID is named", async () => {
    const person = await createPerson();
    const answer = await person.withKey.get("/api/sessions/42");
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ status: "error", error: "sessionId must be a valid UUID" });
  });
});

describe("GET /api/sessions/{sessionId} 404", () => {
  test("a foreign session answers the same bytes as a missing one", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const { session } = await createSession(owner.withKey);
    const [foreign, missing] = await Promise.all([
      other.withKey.get(`/api/sessions/${session.id}`),
      other.withKey.get(`/api/sessions/${randomUUID()}`),
    ]);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe('{"status":"error","error":"Session not found"}');
    expect([missing.status, missing.text]).toEqual([404, foreign.text]);
  });
});
