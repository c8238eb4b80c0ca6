/** Both task runners are given the same runs, and answer the same over HTTP. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeTrigger, startFakeTrigger } from "../../support/fakes/trigger.ts";
import {
  fullRun,
  insertRun,
  newRunId,
  plainRun,
  type RawRun,
  runsIn,
} from "../../support/fixtures/task-runs.ts";
import { type Client, client, createPerson, type Person } from "../../support/harness/clients.ts";
import { startServer } from "../../support/harness/server.ts";
import { stack } from "../../support/harness/stack.ts";

let fake: FakeTrigger;
let withTrigger: RunningNext;
beforeAll(async () => {
  fake = await startFakeTrigger();
  withTrigger = await startServer({ env: fake.env });
});
afterAll(async () => {
  await withTrigger?.stop();
  await fake?.close();
});

const path = "/api/tasks/runs";
const listed = ({ output: _, error: __, ...run }: RawRun) => run;

describe.each([
  {
    name: "embedded",
    url: () => stack.url,
    feed: insertRun,
  },
  {
    name: "trigger",
    url: () => withTrigger.url,
    feed: async (_: string, run: RawRun) => fake.addRun(run),
  },
])("the $name task runner", ({ url, feed }) => {
  let owner: Person;
  let caller: Client;
  beforeAll(async () => {
    owner = await createPerson();
    caller = client({ key: owner.key }, url());
  });
  const read = async (query = "") => runsIn(await caller.get(path + query));

  test("a single look-up has every field of the specification", async () => {
    const run = fullRun(owner.id);
    await feed(owner.id, run);
    expect(await read(`?runId=${run.id}`)).toEqual([run]);
  });

  test("a field without a value is left out", async () => {
    const run = plainRun(owner.id);
    await feed(owner.id, run);
    expect(await read(`?runId=${run.id}`)).toEqual([run]);
  });

  test("a list is newest first and has all but output and error", async () => {
    const person = await createPerson();
    const runs = [3, 1, 2].map((minute) =>
      fullRun(person.id, { createdAt: `2026-11-20T10:0${minute}:00.007Z` }),
    );
    for (const run of runs) await feed(person.id, run);
    const answer = await client({ key: person.key }, url()).get(path);
    const [third, first, second] = runs.map(listed);
    expect(runsIn(answer)).toEqual([third, second, first]);
  });

  test("an output may be any JSON", async () => {
    for (const output of ["text", 7, [1, null], false]) {
      const run = fullRun(owner.id, { output });
      await feed(owner.id, run);
      expect(await read(`?runId=${run.id}`)).toEqual([run]);
    }
  });

  test("limit is the size of the list, twenty when it is not given", async () => {
    const person = await createPerson();
    for (let index = 0; index < 23; index++) {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
      await feed(person.id, plainRun(person.id, { createdAt }));
    }
    const itself = client({ key: person.key }, url());
    const sizes = ["", "?limit=1", "?limit=22", "?limit=100"].map(async (query) => {
      return runsIn(await itself.get(path + query)).length;
    });
    expect(await Promise.all(sizes)).toEqual([20, 1, 22, 23]);
  });

  test("a foreign run and a missing one answer the same, however they are asked for", async () => {
    const other = await createPerson();
    const run = fullRun(other.id);
    await feed(other.id, run);
    for (const runId of [run.id, newRunId(), randomUUID(), "", "../v1/runs", `${run.id}/`]) {
      const answer = await caller.get(`${path}?${new URLSearchParams({ runId })}`);
      expect([answer.status, answer.text]).toEqual([
        404,
        '{"status":"error","error":"Task run not found"}',
      ]);
    }
    expect((await read("?limit=100")).map(({ id }) => id)).not.toContain(run.id);
  });

  test("limit is ignored with runId, whatever it is", async () => {
    const run = plainRun(owner.id);
    await feed(owner.id, run);
    expect(await read(`?runId=${run.id}&limit=0`)).toEqual([run]);
    expect(await read(`?runId=${run.id}&limit=many`)).toEqual([run]);
  });
});
