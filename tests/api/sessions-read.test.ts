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
