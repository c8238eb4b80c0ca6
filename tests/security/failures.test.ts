import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client, createBearer, createPerson, unknownKey } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

/** The response of the database's REST interface to every request. */
let database = { status: 503, body: "" };
const standIn = createServer((_, response) =>
  response.writeHead(database.status, { "content-type": "application/json" }).end(database.body),
);
let broken: RunningNext;
let healthy: RunningNext;

beforeAll(async () => {
  await new Promise<void>((resolve) => standIn.listen(0, "127.0.0.1", resolve));
  const address = standIn.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  // A server refuses to start with an address that cannot be a REST interface; it waits for one
  // that is down.
  broken = await startServer({ env: { SUPABASE_URL: url, LOG_LEVEL: "info" } });
  database = { status: 200, body: "" };
  healthy = await startServer({ env: { LOG_LEVEL: "info" } });
});
afterAll(async () => {
  await broken?.stop();
  await healthy?.stop();
  standIn.close();
});

const ask = (requestId: string = randomUUID()) =>
  client({ key: unknownKey() }, broken.url).get("/api/keys", {
    headers: { "x-request-id": requestId },
  });

const logLine = z.looseObject({ requestId: z.string(), status: z.number(), ms: z.number() });

function linesOf(server: RunningNext, requestId: string) {
  return server
    .logs()
    .split("\n")
    .filter((line) => line.includes(requestId));
}

describe("an unexpected failure", () => {
  it.each([
    ["a value of the wrong shape", 200, '{"secret_column":"hunter2"}'],
    ["no JSON", 200, "<html>hunter2</html>"],
    ["an error of SQL", 400, '{"code":"42703","message":"column hunter2 does not exist"}'],
    ["a constraint's name", 409, '{"code":"23505","message":"duplicate key hunter2"}'],
  ])(
    "of the database, %s, is 500 with a fixed text, and the log has it",
    async (_, status, body) => {
      database = { status, body };
      const requestId = randomUUID();
      const answer = await ask(requestId);
      expectError(answer, 500, "error", "Internal server error", "internal");
      expect(answer.headers.get("x-request-id")).toBe(requestId);
      await expect.poll(() => linesOf(broken, requestId)).toHaveLength(1);
      const line = logLine.parse(JSON.parse(linesOf(broken, requestId)[0] ?? ""));
      expect(line.err).toBeDefined();
    },
  );

  it.each([
    ["a gateway's failure", 502, "bad gateway"],
    ["its refusal of the service's key", 401, '{"message":"Invalid API key"}'],
    ["too many connections", 503, '{"code":"53300","message":"too many connections"}'],
    ["its shutdown", 500, '{"code":"57P01","message":"terminating connection"}'],
    ["no connection to PostgreSQL", 503, '{"code":"PGRST001","message":"could not connect"}'],
  ])("of the database, %s, is 503 and never 401", async (_, status, body) => {
    database = { status, body };
    expectError(await ask(), 503, "error", "Service temporarily unavailable");
  });
});

describe("the log", () => {
  it("has one line a request: id, method, route, status, time, account; no credential, no body", async () => {
    const person = await createPerson(healthy.url);
    const bearer = await createBearer(person.email);
    const secret = `secret-${randomUUID()}`;
    for (const [caller, credential] of [
      [client({ key: person.key }, healthy.url), person.key],
      [client({ bearer }, healthy.url), bearer],
    ] as const) {
      const requestId = randomUUID();
      const headers = { "x-request-id": requestId };
      const answer = await caller.post("/api/keys", { key_name: secret }, { headers });
      const { key } = z.object({ key: z.string() }).parse(answer.body);
      await expect.poll(() => linesOf(healthy, requestId)).toHaveLength(1);
      const line = logLine.parse(JSON.parse(linesOf(healthy, requestId)[0] ?? ""));
      expect(line).toMatchObject({
        method: "POST",
        route: "/api/keys",
        status: 201,
        accountId: person.id,
      });
      for (const hidden of [credential, key, secret]) expect(healthy.logs()).not.toContain(hidden);
    }
  });
});
