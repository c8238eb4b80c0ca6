/** Tasks run by Trigger.dev: each receives an id, asks the service for the work, and reports the run. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FakeFal, startFakeFal } from "../../support/fakes/fal.ts";
import { type FakeTrigger, startFakeTrigger } from "../../support/fakes/trigger.ts";
import { imagesIn } from "../../support/fixtures/generations.ts";
import { runsIn } from "../../support/fixtures/task-runs.ts";
import { createTask, fireTasks } from "../../support/fixtures/tasks.ts";
import { type Client, client } from "../../support/harness/clients.ts";
import { setting } from "../../support/harness/stack.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";

let trigger: FakeTrigger;
let fal: FakeFal;
/** Firing due prompts fires them for all accounts of a database. */
let workspace: Workspace;
beforeAll(async () => {
  [trigger, fal] = await Promise.all([startFakeTrigger(), startFakeFal()]);
  workspace = await startWorkspace({
    ...trigger.env,
    ...fal.env,
    LOOPBACK_URLS: "media,webhooks",
    CRON_SECRET: setting("CRON_SECRET"),
  });
});
afterEach(() => {
  trigger.recover();
  trigger.deploy(undefined);
});
afterAll(async () => {
  await workspace?.stop();
  await Promise.all([trigger?.close(), fal?.close()]);
});

const path = "/api/tasks/runs";
const SECRET_WORDS = `word-${randomUUID()}`;
const deploy = (times?: number) =>
  trigger.deploy({ url: workspace.server.url, secret: setting("CRON_SECRET") }, times);

interface Person {
  readonly id: string;
}

async function createCaller(): Promise<{ person: Person; caller: Client }> {
  const { id, caller } = await workspace.createPerson(workspace.server.url);
  return { person: { id }, caller };
}

const listed = async (caller: Client) => runsIn(await caller.get(path));
const lookedUp = async (caller: Client, id: string) =>
  runsIn(await caller.get(`${path}?runId=${id}`))[0];

/** The runs started by each firing of the account. */
const firingsOf = ({ id }: Person) => workspace.sql<
  { turns: number; handed: boolean; status: string }[]
>`
  select (select count(*)::int from turns t where t.effect_id = f.id) as turns,
    r.metadata ? 'triggerRunId' as handed, r.status
  from scheduled_firings f join task_runs r on r.id = f.task_run_id
  where f.account_id = ${id}`;

/** Tasks are due at whole minutes. */
async function fire(id: string): Promise<void> {
  await workspace.sql`update scheduled_prompts set next_run_at = date_trunc('minute', now()) where id = ${id}`;
  await fireTasks(workspace.server.url);
}

/** As a task at Trigger.dev asks for its run. */
const deliver = (taskRunId: unknown) =>
  client(null, workspace.server.url).post(`/api/cron/task-runs/${taskRunId}`, undefined, {
    headers: { authorization: `Bearer ${setting("CRON_SECRET")}` },
  });

const untilEnded = (person: Person) =>
  expect.poll(() => firingsOf(person)).toMatchObject([{ status: "COMPLETED" }]);

describe("a scheduled prompt", () => {
  test("is started once by Trigger.dev, which delivers it twice, and is one run in the list", async () => {
    deploy(2);
    const { person, caller } = await createCaller();
    const { id } = await createTask(caller, { prompt: `Say ${SECRET_WORDS}` });
    await fire(id);
    await expect.poll(() => trigger.startedFor(person.id)).toHaveLength(1);
    await untilEnded(person);
    const firings = await firingsOf(person);
    expect(firings).toMatchObject([{ turns: 1 }]);

    const [remote] = trigger.startedFor(person.id);
    await expect.poll(() => remote?.status).toBe("COMPLETED");
    const runs = await listed(caller);
    expect(runs).toHaveLength(firings.length);
    const run = runs.find(({ metadata }) => metadata?.triggerRunId === remote?.id);
    expect(run).toMatchObject({
      ...{ id: remote?.metadata.taskRunId, status: "COMPLETED" },
      ...{ taskIdentifier: "scheduled-prompt", tags: [`account:${person.id}`] },
      ...{ env: remote?.env, version: remote?.version, attempts: remote?.attempts },
      payload: { prompt: `Say ${SECRET_WORDS}` },
    });
    expect(await lookedUp(caller, run?.id ?? "")).toMatchObject({ ...run, output: {} });
    expect(await lookedUp(caller, remote?.id ?? "")).toMatchObject({
      payload: { taskRunId: run?.id },
    });
    trigger.fail({ status: 500, body: "" });
    expect(await lookedUp(caller, run?.id ?? "")).toMatchObject({ status: "COMPLETED" });
    expect(trigger.orders.join()).not.toContain(SECRET_WORDS);
  });

  test("is one run, and ends, although two deliveries start it at the same time", async () => {
    const { person, caller } = await createCaller();
    const { id } = await createTask(caller, { prompt: "run `sleep 1`" });
    await fire(id);
    const patience = workspace.sql`interval '5 minutes'`;
    const isHandedOver = async () =>
      (
        await workspace.sql`select from scheduled_firings where account_id = ${person.id}
        and attempt_at > now() + ${patience} - interval '1 minute'`
      ).length;
    await expect.poll(isHandedOver).toBe(1);
    const taskRunId = trigger.startedFor(person.id)[0]?.metadata.taskRunId;
    const deliveries: Promise<unknown>[] = [];
    await workspace.sql.begin(async (holder) => {
      await holder`select pg_advisory_xact_lock(hashtextextended(${person.id}, 20261163))`;
      for (const count of [1, 2]) {
        // As a hand-over that is recorded late leaves it.
        await workspace.sql`update scheduled_firings set attempt_at = now() + ${patience}
          where account_id = ${person.id}`;
        deliveries.push(deliver(taskRunId));
        const waiting = () => workspace.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like '%"provision_run"%'`;
        await expect.poll(waiting).toHaveLength(count);
      }
    });
    await Promise.all(deliveries);
    await untilEnded(person);
    expect(await firingsOf(person)).toMatchObject([{ turns: 1 }]);
  });

  test("that is asked for now starts at once, and is shown there", async () => {
    deploy();
    const { person, caller } = await createCaller();
    const { id } = await createTask(caller, { enabled: false });
    const answer = await caller.post(`/api/tasks/${id}/run`);
    expect(answer.status, answer.text).toBe(202);
    await expect.poll(() => trigger.startedFor(person.id)[0]?.status).toBe("COMPLETED");
    expect(await firingsOf(person)).toMatchObject([
      { turns: 1, handed: true, status: "COMPLETED" },
    ]);
  });

  test("is started by the service when Trigger.dev does not ask for it", async () => {
    const { person, caller } = await createCaller();
    const { id } = await createTask(caller);
    await fire(id);
    await expect.poll(() => trigger.startedFor(person.id)).toHaveLength(1);
    await workspace.sql`update scheduled_firings set attempt_at = now()
      where account_id = ${person.id} and attempt_at is not null`;
    await fireTasks(workspace.server.url);
    await untilEnded(person);
    const firings = await firingsOf(person);
    expect(firings).toMatchObject([{ turns: 1 }]);
    // Late, and to no effect.
    deploy();
    const taskRunId = trigger.startedFor(person.id)[0]?.metadata.taskRunId;
    const late = await deliver(taskRunId);
    expect(late.body).toMatchObject({ task_run: { status: "COMPLETED" } });
    expect(await firingsOf(person)).toEqual(firings);
  });

  test.each([
    ["fails", { status: 500, body: "" }],
    ["refuses the key", { status: 401, body: "{}" }],
    ["hangs up", "hang-up"],
    ["answers with something else", { status: 200, body: '{"id":7}' }],
  ] as const)("is started by the service when Trigger.dev %s", async (_, fault) => {
    trigger.fail(fault, "/trigger");
    const { person, caller } = await createCaller();
    const { id } = await createTask(caller);
    await fire(id);
    await untilEnded(person);
    const firings = await firingsOf(person);
    expect(firings).toMatchObject([{ turns: 1, handed: false }]);
  });
});

describe("an image of a vendor", () => {
  const make = async (caller: Client) =>
    imagesIn(await caller.post("/api/content/image", { prompt: `Draw ${SECRET_WORDS}` }));

  test("is ordered once by Trigger.dev, which delivers its task twice", async () => {
    deploy(2);
    const { person, caller } = await createCaller();
    const before = fal.submitted.length;
    const { imageUrl } = await make(caller);
    expect(fal.submitted).toHaveLength(before + 1);
    const [remote, ...others] = trigger.startedFor(person.id);
    expect([remote?.taskIdentifier, others]).toEqual(["generate-image", []]);
    await expect.poll(() => remote?.status).toBe("COMPLETED");
    expect(await listed(caller)).toMatchObject([
      { id: remote?.metadata.taskRunId, status: "COMPLETED", env: remote?.env },
    ]);
    expect(await lookedUp(caller, String(remote?.metadata.taskRunId))).toMatchObject({
      output: { imageUrl },
    });
    expect(trigger.orders.join()).not.toContain(SECRET_WORDS);
    expect(await workspace.sql`select from task_jobs where account_id = ${person.id}`).toHaveLength(
      0,
    );
  });

  test("is ordered by the service when Trigger.dev does not take the task, or does not ask", async () => {
    const [refused, unasked] = await Promise.all([createCaller(), createCaller()]);
    const before = fal.submitted.length;
    const waiting = make(unasked.caller);
    await expect.poll(() => trigger.startedFor(unasked.person.id)).toHaveLength(1);
    trigger.fail({ status: 503, body: "" }, "/trigger");
    await Promise.all([make(refused.caller), waiting]);
    expect(fal.submitted).toHaveLength(before + 2);
  });
});
