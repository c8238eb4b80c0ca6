/** `fireDueTasks` against a database, without a server: what becomes of a firing whose process dies or whose author lost access. */
import { randomUUID } from "node:crypto";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fireDueTasks, startLeasedFiring } from "../../lib/tasks/fire-tasks.ts";
import { fireTask, insertTask, LEASE_SECONDS, takeFirings } from "../../lib/tasks/store.ts";
import { validTask } from "../support/fixtures/tasks.ts";
import { createTestApp, type TestApp } from "../support/harness/test-app.ts";

const DUE = new Date("2031-03-03T08:00:00Z");
const at = (seconds: number) => new Date(DUE.getTime() + seconds * 1_000);

let service: TestApp;
beforeAll(async () => {
  service = await createTestApp();
});
afterAll(() => service.stop());

/** Creates a task that is due at `DUE`, and returns how its firings are read. */
async function createTask() {
  const { app, sql } = service;
  const { accountId } = await service.createCaller();
  const task = await insertTask(
    app.db,
    accountId,
    randomUUID(),
    { ...validTask, enabled: true },
    DUE,
  );
  if (isAppError(task)) throw new Error(task.message);
  return {
    id: task.id,
    accountId,
    firings: () => sql`
      select f.fires_at, f.run_id, r.status, r.error from scheduled_firings f
      join task_runs r on r.id = f.task_run_id where f.task_id = ${task.id}`,
    runs: async () =>
      (await sql`select 1 from turns where account_id = ${accountId} and run_id is not null`)
        .length,
  };
}

test("a missed time is made up for once, however many servers ask", async () => {
  const task = await createTask();
  const now = at(21 * 86_400);
  await Promise.all([fireDueTasks(service.app, now), fireDueTasks(service.app, now)]);
  expect(await task.firings()).toMatchObject([{ fires_at: DUE }]);
  expect(await task.runs()).toBe(1);
  expect(await fireDueTasks(service.app, now)).toEqual({ fired: 0, started: 0 });
});

test("a firing whose process dies before its run has started is another's after the lease", async () => {
  const task = await createTask();
  await fireTask(service.app.db, task.id, DUE.toISOString(), null, DUE);
  expect(await takeFirings(service.app.db, DUE, 4)).toHaveLength(1);
  expect(await fireDueTasks(service.app, at(1))).toEqual({ fired: 0, started: 0 });
  expect(await fireDueTasks(service.app, at(LEASE_SECONDS + 1))).toEqual({ fired: 0, started: 1 });
  expect(await task.runs()).toBe(1);
});

test("a firing that is started again, because its process died before it said so, has one run", async () => {
  const task = await createTask();
  await fireTask(service.app.db, task.id, DUE.toISOString(), null, DUE);
  const [firing] = await takeFirings(service.app.db, DUE, 4);
  if (!firing) throw new Error("There is no firing");
  const first = await startLeasedFiring(service.app, firing, DUE);
  const [second, third] = await Promise.all([
    startLeasedFiring(service.app, firing, DUE),
    startLeasedFiring(service.app, firing, DUE),
  ]);
  expect([second, third]).toEqual([first, first]);
  expect(await task.runs()).toBe(1);
});

test("a firing fails for good if its author no longer sees the artist, and starts nothing", async () => {
  const [organizationId, artistId] = [randomUUID(), randomUUID()];
  const { sql } = service;
  await sql`insert into accounts (id, kind)
    values (${organizationId}, 'organization'), (${artistId}, 'artist')`;
  const task = await createTask();
  for (const id of [task.accountId, artistId]) {
    await sql`insert into organization_accounts (organization_id, account_id)
      values (${organizationId}, ${id})`;
  }
  await sql`update scheduled_prompts set artist_id = ${artistId} where id = ${task.id}`;
  await sql`delete from organization_accounts where account_id = ${task.accountId}`;
  expect(await fireDueTasks(service.app, DUE)).toEqual({ fired: 1, started: 0 });
  expect(await task.firings()).toMatchObject([
    { status: "FAILED", run_id: null, error: { message: "Artist not found" } },
  ]);
  expect(await task.runs()).toBe(0);
});
