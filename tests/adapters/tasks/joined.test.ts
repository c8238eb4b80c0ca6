/** With Trigger.dev configured an account still finds the runs of this service's own runner. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeTrigger, startFakeTrigger } from "../../support/fakes/trigger.ts";
import {
  fullRun,
  insertRun,
  newRunId,
  plainRun,
  runsIn,
} from "../../support/fixtures/task-runs.ts";
import { type Client, client, createPerson, type Person } from "../../support/harness/clients.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql } from "../../support/harness/stack.ts";

let fake: FakeTrigger;
let server: RunningNext;
beforeAll(async () => {
  fake = await startFakeTrigger();
  server = await startServer({ env: fake.env });
});
afterEach(() => fake.recover());
afterAll(async () => {
  await server?.stop();
  await fake?.close();
});

const path = "/api/tasks/runs";
const minute = (count: number) => new Date(Date.UTC(2026, 10, 20, 10, count)).toISOString();

async function createCaller(): Promise<{ person: Person; caller: Client }> {
  const person = await createPerson();
  return { person, caller: client({ key: person.key }, server.url) };
}

describe("own runs beside those of Trigger.dev", () => {
  test("are one list, newest first, and limit is the size of all of it", async () => {
    const { person, caller } = await createCaller();
    const ids: string[] = [];
    for (let count = 0; count < 12; count++) {
      const run = fullRun(person.id, { createdAt: minute(count) });
      ids.unshift(run.id);
      if (count % 3 === 0) fake.addRun(run);
      else await insertRun(person.id, run);
    }
    const read = async (query: string) => runsIn(await caller.get(path + query));
    const all = await read("");
    expect(all.map(({ id }) => id)).toEqual(ids);
    for (const run of all) {
      expect(run).not.toHaveProperty("output");
      expect(run).not.toHaveProperty("error");
    }
    expect((await read("?limit=5")).map(({ id }) => id)).toEqual(ids.slice(0, 5));
  });

  test("a list by artist has those of both that are tagged for it", async () => {
    const { person, caller } = await createCaller();
    const artist = randomUUID();
    const tags = [`account:${person.id}`, `artist:${artist}`];
    const own = fullRun(person.id, { createdAt: minute(2), tags: tags.slice(0, 1) });
    const theirs = fullRun(person.id, { createdAt: minute(1), tags });
    const others = [fullRun(person.id), fullRun(randomUUID(), { tags: [tags[1] ?? ""] })];
    for (const run of [theirs, ...others]) fake.addRun(run);
    await insertRun(person.id, own);
    await sql`update task_runs set artist_id = ${artist} where id = ${own.id}`;
    const runs = runsIn(await caller.get(`${path}?artist_id=${artist}`));
    expect(runs.map(({ id, tags: shown }) => [id, shown])).toEqual([
      [own.id, tags],
      [theirs.id, tags],
    ]);
  });

  test("times are compared, not their text", async () => {
    const { person, caller } = await createCaller();
    const older = plainRun(person.id, { createdAt: "2026-11-20T10:00:00Z" });
    const newer = plainRun(person.id, { createdAt: "2026-11-20T10:00:00.001Z" });
    fake.addRun(older);
    await insertRun(person.id, newer);
    const runs = runsIn(await caller.get(path));
    expect(runs.map(({ id }) => id)).toEqual([newer.id, older.id]);
  });
});

describe("while Trigger.dev fails", () => {
  test("a list is refused as a whole, and an own run is still found", async () => {
    const { person, caller } = await createCaller();
    const own = fullRun(person.id);
    await insertRun(person.id, own);
    fake.fail({ status: 500, body: "" });

    const list = await caller.get(path);
    expect([list.status, list.body]).toEqual([
      502,
      { status: "error", error: "Task runner unavailable" },
    ]);
    expect(runsIn(await caller.get(`${path}?runId=${own.id}`))).toEqual([own]);
    expect((await caller.get(`${path}?runId=${newRunId()}`)).status).toBe(502);
  });
});
