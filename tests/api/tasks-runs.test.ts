import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import type { paths } from "../generated/api.ts";
import { type FakeTrigger, startFakeTrigger } from "../support/fakes/trigger.ts";
import type { Fault } from "../support/fakes/vendor-server.ts";
import { expectError, expectErrorShape } from "../support/fixtures/shapes.ts";
import { fullRun, insertRun, newRunId, plainRun, runsIn } from "../support/fixtures/task-runs.ts";
import {
  type Client,
  client,
  createAccount,
  createPerson,
  dataOf,
  link,
  type Person,
} from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { sql } from "../support/harness/stack.ts";

const path = "/api/tasks/runs";
type Query = paths[typeof path]["get"]["parameters"]["query"];

const runsOf = async (caller: Client, query: Query = {}) =>
  (await dataOf(caller.api.GET(path, { params: { query } }))).runs;

describe("GET /api/tasks/runs 200", () => {
  test("with account_id, the runs of an account that the caller may act for", async () => {
    const [member, artist, organization] = await Promise.all([
      createPerson(),
      createAccount({ kind: "artist" }),
      createAccount({ kind: "organization" }),
    ]);
    await link(organization.id, member.id);
    await link(organization.id, artist.id);
    for (const { id } of [member, artist, organization]) {
      const run = plainRun(id);
      await insertRun(id, run);
      for (const query of [{ account_id: id }, { account_id: id, runId: run.id }]) {
        const runs = await runsOf(member.withKey, query);
        expect(runs.map((one) => one.id)).toEqual([run.id]);
      }
    }
  });

  test("the admin organization reaches the runs of any account", async () => {
    const [member, stranger, admins] = await Promise.all([
      createPerson(),
      createPerson(),
      createAccount({ kind: "organization", isAdmin: true }),
    ]);
    await link(admins.id, member.id);
    const run = plainRun(stranger.id);
    await insertRun(stranger.id, run);
    const runs = await runsOf(member.withKey, { account_id: stranger.id, runId: run.id });
    await sql`update accounts set is_admin = false where id = ${admins.id}`;
    expect(runs).toEqual([run]);
  });

  test("a list reads its own runs and no more, among ten thousand", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const read = await sql.begin(async (transaction) => {
      for (const { id } of [owner, other]) {
        await transaction`insert into task_runs (id, account_id, status, task_identifier, tags, created_at)
          select 'run_' || replace(gen_random_uuid()::text, '-', ''), ${id}, 'COMPLETED', 'task',
            array['account:' || ${id}::text], now() - n * interval '1 second'
          from generate_series(1, 5000) n`;
      }
      await transaction`analyze task_runs`;
      await transaction`set local plan_cache_mode = force_generic_plan`;
      const count = () => transaction<{ read: string }[]>`
        select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read
        from pg_stat_xact_user_tables where relname = 'task_runs'`;
      const [before] = await count();
      await transaction`select list_task_runs(${owner.id}, 20, null)`;
      const [after] = await count();
      await transaction`delete from task_runs where account_id in (${owner.id}, ${other.id})`;
      return Number(after?.read) - Number(before?.read);
    });
    expect(read).toBeGreaterThanOrEqual(20);
    expect(read).toBeLessThan(60);
  });
});

describe("GET /api/tasks/runs 404", () => {
  test("a run of an account that the caller could act for needs its account_id", async () => {
    const [member, organization] = await Promise.all([
      createPerson(),
      createAccount({ kind: "organization" }),
    ]);
    await link(organization.id, member.id);
    const run = plainRun(organization.id);
    await insertRun(organization.id, run);
    for (const runId of [run.id, newRunId()]) {
      const answer = await member.withKey.get(`${path}?runId=${runId}`);
      expectError(answer, 404, "error", "Task run not found");
    }
  });
});

describe("GET /api/tasks/runs of Trigger.dev", () => {
  let fake: FakeTrigger;
  let server: RunningNext;
  let person: Person;
  const ask = (query = "") => client({ key: person.key }, server.url).get(path + query);
  const both = () => Promise.all([ask(), ask(`?runId=${newRunId()}`)]);

  beforeAll(async () => {
    fake = await startFakeTrigger();
    server = await startServer({ env: fake.env });
    person = await createPerson();
    fake.addRun(fullRun(person.id));
  });
  afterEach(() => fake.recover());
  afterAll(async () => {
    await server?.stop();
    await fake?.close();
  });

  const faults: [string, Fault][] = [
    ["a connection that is reset", "reset"],
    ["401", { status: 401, body: '{"error":"Invalid API key tr_test_secret"}' }],
    ["403", { status: 403, body: "{}" }],
    ["500", { status: 500, body: "<b>trigger.dev stack</b>" }],
    ["a redirect", { status: 302, headers: { location: "/" }, body: "" }],
    ["an HTML page", { status: 200, body: "<html>trigger.dev</html>" }],
    ["JSON of another shape", { status: 200, body: '{"id":7,"data":{}}' }],
    ["half a body", "cut"],
  ];

  test.each(faults)("502: %s gets one fixed sentence", async (_, fault) => {
    fake.fail(fault);
    for (const query of ["", `?runId=${newRunId()}`]) {
      const failed = await ask(query);
      expectError(failed, 502, "error", "Task runner unavailable");
      expectErrorShape(failed, "error");
      expect(failed.headers.get("x-error-code")).toBe("upstream_error");
      expect([...failed.headers].join()).not.toMatch(/trigger/i);
    }
    fake.recover();
    expect((await ask()).status).toBe(200);
  });

  test("502: a list that is not found is not an empty one", async () => {
    fake.fail({ status: 404, body: "{}" });
    expect((await ask()).status).toBe(502);
  });

  test.each(["silence", "stalled body"] as const)("504: %s ends at the deadline", async (fault) => {
    fake.fail(fault);
    for (const answer of await both()) {
      expectError(answer, 504, "error", "Task runner did not answer in time", "upstream_timeout");
    }
  });

  test.each([
    ["9", "9"],
    ["soon, says trigger.dev", null],
  ])("502: 429 with retry-after: %s, which is passed on when it is one", async (given, passed) => {
    fake.fail({ status: 429, headers: { "retry-after": given }, body: "" });
    for (const answer of await both()) {
      expectError(answer, 502, "error", "Task runner unavailable");
      expect(answer.headers.get("retry-after")).toBe(passed);
    }
  });

  test("502: a payload that is stored apart and cannot be had; its run is still listed", async () => {
    const owner = await createPerson();
    const caller = client({ key: owner.key }, server.url);
    const run = fullRun(owner.id);
    fake.addRun(run);
    fake.store(run.id, "payload", undefined);
    expectError(
      await caller.get(`${path}?runId=${run.id}`),
      502,
      "error",
      "Task runner unavailable",
    );
    expect(runsIn(await caller.get(path)).map(({ id }) => id)).toEqual([run.id]);
  });

  test("200: the fault of one run or one field hides no other", async () => {
    const owner = await createPerson();
    const caller = client({ key: owner.key }, server.url);
    const good = plainRun(owner.id);
    const odd = plainRun(owner.id, { status: "A_STATUS_OF_TOMORROW", createdAt: good.updatedAt });
    fake.addRun(good);
    fake.addRun(odd);
    const tags = [`account:${owner.id}`];
    const { env: _, ...withoutEnv } = good;
    fake.addItem(null);
    fake.addItem({ tags, status: "QUEUED" });
    fake.addItem(plainRun(randomUUID()));
    const oddFields = { createdAt: "2027-01-01T00:00:00Z", env: 7, durationMs: "long" };
    fake.addItem({ ...withoutEnv, id: newRunId(), ...oddFields });
    const runs = runsIn(await caller.get(path));
    expect(runs.map(({ id, status }) => ({ id, status }))).toEqual([
      { id: expect.not.stringMatching(good.id), status: good.status },
      { id: odd.id, status: odd.status },
      { id: good.id, status: good.status },
    ]);
    expect(runs[0]).not.toHaveProperty("env");
    expect(runs[0]).not.toHaveProperty("durationMs");
  });

  test("200: runs whose look-up fails are listed as the list has them", async () => {
    fake.fail({ status: 500, body: "" }, "/api/v3/runs/");
    const [run] = runsIn(await ask());
    expect(run).toMatchObject({ status: "COMPLETED", metadata: { step: "done" } });
    expect(run).not.toHaveProperty("payload");
  });

  test("200: a payload and an output that are stored apart are fetched, without the key", async () => {
    const run = fullRun(person.id);
    fake.addRun(run);
    fake.store(run.id, "payload", { large: true });
    fake.store(run.id, "output", {
      json: { at: "2026-11-20T00:00:00.000Z" },
      meta: { values: {} },
    });
    const payload = { large: true };
    const output = { at: "2026-11-20T00:00:00.000Z" };
    expect(runsIn(await ask(`?runId=${run.id}`))).toEqual([{ ...run, payload, output }]);
    const items = runsIn(await ask());
    expect(items.find(({ id }) => id === run.id)?.payload).toEqual(payload);
  });

  test("an id that cannot be one is never asked for", async () => {
    const before = fake.count("/");
    for (const runId of ["../../v1/runs", "run_", "run_a/../b", "run_a%2Fb", "ü"]) {
      expect((await ask(`?${new URLSearchParams({ runId })}`)).status).toBe(404);
    }
    expect(fake.count("/")).toBe(before);
  });
});
