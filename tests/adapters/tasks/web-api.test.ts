/** Trigger.dev's faults that need more than one answer of it; the plain ones are with the endpoint. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeTrigger, startFakeTrigger } from "../../support/fakes/trigger.ts";
import { expectErrorShape } from "../../support/fixtures/shapes.ts";
import { fullRun, newRunId, runsIn } from "../../support/fixtures/task-runs.ts";
import { type Client, createPerson, type Person } from "../../support/harness/clients.ts";
import { startServer } from "../../support/harness/server.ts";

let fake: FakeTrigger;
let server: RunningNext;
let person: Person;
let caller: Client;
beforeAll(async () => {
  fake = await startFakeTrigger();
  server = await startServer({ env: fake.env });
  person = await createPerson(server.url);
  caller = person.withKey;
});
afterEach(() => fake.recover());
afterAll(async () => {
  await server?.stop();
  await fake?.close();
});

const one = (runId: string) => caller.get(`/api/tasks/runs?runId=${runId}`);
const list = () => caller.get("/api/tasks/runs");
const both = () => Promise.all([list(), one(newRunId())]);
const unavailable = { status: "error", error: "Task runner unavailable" };

test.each([
  ["9", "9"],
  ["soon, says trigger.dev", null],
])("502: 429 with retry-after: %s, which is passed on when it is one", async (given, passed) => {
  fake.fail({ status: 429, headers: { "retry-after": given }, body: "" });
  for (const answer of await both()) {
    expect([answer.status, answer.body]).toEqual([502, unavailable]);
    expect(answer.headers.get("retry-after")).toBe(passed);
  }
});

test("504: headers and nothing else end at the deadline", async () => {
  fake.fail("stalled body");
  for (const answer of await both()) {
    expect(answer.status).toBe(504);
    expectErrorShape(answer, "error");
    expect(answer.body).toEqual({ status: "error", error: "Task runner did not answer in time" });
  }
});

test("502: a payload that is stored apart and cannot be had; its run is still listed", async () => {
  const run = fullRun(person.id);
  fake.addRun(run);
  fake.store(run.id, "payload", undefined);
  const answer = await one(run.id);
  expect([answer.status, answer.body]).toEqual([502, unavailable]);
  expect(runsIn(await list()).map(({ id }) => id)).toEqual([run.id]);
});

test("502: nobody listens", async () => {
  await fake.close();
  for (const answer of await both()) {
    expect([answer.status, answer.body]).toEqual([502, unavailable]);
    expectErrorShape(answer, "error");
  }
});
