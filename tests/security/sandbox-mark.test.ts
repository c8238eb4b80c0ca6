/**
 * Requests that carry the mark of a sandbox, and the rights of a run's credential when the run is
 * not wanted.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql, stack } from "../support/harness/stack.ts";

const mark = { "x-agent-sandbox": "1" };
const refused = "This credential cannot be used here";
const anybody = client();

let person: Person;
beforeAll(async () => {
  person = await createPerson();
});

describe("a request from a sandbox", () => {
  it.each(["withKey", "withBearer"] as const)(
    "uses no credential that it found (%s)",
    async (by) => {
      for (const path of [
        "/api/sessions",
        "/api/keys",
        "/api/models",
        "/api/catalog/search?q=a&type=artist",
      ]) {
        const answer = await person[by].get(path, { headers: mark });
        expect(answer.status, path).toBe(403);
        expect(sentenceOf(answer), path).toBe(refused);
      }
    },
  );

  it("acts for the account with the credential of its run", async () => {
    const { headers, sessionId } = await createRunCredential(person.id, "bearer");
    const answer = await anybody.get(`/api/sessions/${sessionId}`, {
      headers: { ...headers, ...mark },
    });
    expect(answer.status, answer.text).toBe(200);
  });

  it("does not reach the console's sign-in", async () => {
    const response = await fetch(`${stack.url}/auth/v1/otp`, {
      method: "POST",
      headers: { ...mark, "content-type": "application/json" },
      body: JSON.stringify({ email: "attacker@example.com" }),
    });
    expect(response.status).toBe(404);
  });
});

it("does not accept the token of a run as an API key", async () => {
  const { raw } = await createRunCredential(person.id, "bearer");
  expect((await anybody.get("/api/sessions", { headers: { "x-api-key": raw } })).status).toBe(401);
});

describe.each(["key", "bearer"] as const)("the credential of a run, as a %s", (form) => {
  it.each([
    ["was asked to stop", "stop_requested_at"],
    ["has ended", "finished_at"],
  ])("is unknown when its turn %s", async (_, column) => {
    const { headers, turnId } = await createRunCredential(person.id, form);
    const ask = () => anybody.get("/api/sessions", { headers });
    expect((await ask()).status).toBe(200);
    await sql`update turns set ${sql({ [column]: new Date() }, column)} where id = ${turnId}`;
    const answer = await ask();
    expect(answer.status).toBe(401);
    expect(sentenceOf(answer)).toBe("Unauthorized");
  });
});
