/** Firings of scheduled prompts, with the time as an argument: nothing waits. */
import { randomUUID } from "node:crypto";
import type { ISql } from "postgres";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createPerson } from "../../tests/support/harness/clients.ts";
import { sql } from "../../tests/support/harness/stack.ts";
import { createChat } from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

const at = (minutes: number, seconds = 0) =>
  new Date(Date.UTC(2020, 0, 1, 0, minutes, seconds)).toISOString();

const insertTask = async (database: ISql, account: string) => {
  const id = randomUUID();
  await database`insert into scheduled_prompts
      (id, account_id, title, prompt, schedule, timezone, enabled, next_run_at)
    values (${id}, ${account}, 'own', 'own', '* * * * *', 'UTC', true, ${at(0)})`;
  return id;
};

const fire = (t: Transaction, task_id: string, minute: number) =>
  t.call("fire_task", { task_id, expected: at(minute), next: at(minute + 1), now: at(minute) });

const taken = z.array(z.object({ id: z.uuid(), accountId: z.uuid(), taskRunId: z.string() }));
/** The firings of the account that are leased now. */
async function take(t: Transaction, account: string, now: string, lease_seconds = 60) {
  const all = taken.parse(await t.call("take_firings", { now, lease_seconds, limit: 1_000 }));
  return all.filter(({ accountId }) => accountId === account);
}

const statuses = async (t: Transaction, account: string) => {
  const rows = await t.sql`select r.status from scheduled_firings f
    join task_runs r on r.id = f.task_run_id
    where f.account_id = ${account} order by f.fires_at`;
  return rows.map(({ status }) => status);
};

const withTask = (work: (t: Transaction, account: string, task: string) => Promise<void>) =>
  rolledBack(async (t) => {
    const account = await t.account();
    await work(t, account, await insertTask(t.sql, account));
  });

type Firing = z.output<typeof taken>[number];

/** A task of the account has fired, and a server has taken the firing. */
const withFiring = (
  work: (t: Transaction, firing: Firing, account: string, task: string) => Promise<void>,
) =>
  withTask(async (t, account, task) => {
    await fire(t, task, 0);
    const [firing] = await take(t, account, at(0));
    if (!firing) throw new Error("There is no firing");
    await work(t, firing, account, task);
  });

/** Stores the turn of a firing with its chat. @param run_id null while the turn waits for its run */
async function storeTurn(t: Transaction, { id, accountId }: Firing, run_id: string | null) {
  const [turn, session, chat] = [randomUUID(), randomUUID(), randomUUID()];
  await createChat(t, accountId, { session, chat });
  await t.sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, kind, effect_id)
    values (${turn}, ${accountId}, ${session}, ${chat}, ${run_id},
      ${run_id === null ? "queued" : "running"}, 'm', 'a', 'auto', 'task', ${id})`;
  return { turn, session, chat };
}

test("a task fires for the last time before its end, and is then disabled", () =>
  withTask(async (t, account, task) => {
    await t.sql`update scheduled_prompts set options = ${t.sql.json({ ends_at: at(1, 30) })} where id = ${task}`;
    const states = [await fire(t, task, 0), await fire(t, task, 1), await fire(t, task, 2)];
    expect(states).toEqual([true, true, false]);
    const rows = await t.sql`select enabled, next_run_at from scheduled_prompts where id = ${task}`;
    expect(rows).toEqual([{ enabled: false, next_run_at: null }]);
    expect(await statuses(t, account)).toHaveLength(2);
  }));

describe("fire_task", () => {
  test("of servers that come at once, one makes the firing", async () => {
    const { id: account } = await createPerson();
    const task = await insertTask(sql, account);
    const calls = await Promise.all(
      Array.from(
        { length: 20 },
        () => sql`select fire_task(${task}, ${at(0)}, '2100-01-01', ${at(0)}) as fired`,
      ),
    );
    // Another test may have started the due firing.
    expect(calls.filter(([row]) => row?.fired).length).toBeLessThanOrEqual(1);
    expect(await sql`select from scheduled_firings where task_id = ${task}`).toHaveLength(1);
  });

  test("a time that has fired does not fire again, though the task should get back to it", () =>
    withTask(async (t, account, task) => {
      expect(await fire(t, task, 0)).toBe(true);
      await t.sql`update scheduled_prompts set next_run_at = ${at(0)} where id = ${task}`;
      expect(await fire(t, task, 0)).toBe(false);
      expect(await fire(t, task, 1)).toBe(true);
      expect(await statuses(t, account)).toEqual(["QUEUED", "QUEUED"]);
    }));

  test("without a next time the task is disabled", () =>
    withTask(async (t, _account, task) => {
      const last = { task_id: task, expected: at(0), next: null, now: at(0) };
      expect(await t.call("fire_task", last)).toBe(true);
      const [row] = await t.sql`select enabled from scheduled_prompts where id = ${task}`;
      expect(row).toEqual({ enabled: false });
    }));
});

describe("take_firings", () => {
  test("leases a firing to one server, and to another when the lease ends unsettled", () =>
    withTask(async (t, account, task) => {
      await fire(t, task, 0);
      const [firing] = await take(t, account, at(0, 1));
      expect(await take(t, account, at(1, 0))).toEqual([]);
      expect(await take(t, account, at(1, 1))).toEqual([firing]);
      const run = { run_id: "wrun_1", chat_id: randomUUID(), session_id: randomUUID() };
      await t.call("record_started_run", { id: firing?.id ?? "", ...run });
      expect(await take(t, account, at(9))).toEqual([]);
      expect(await statuses(t, account)).toEqual(["EXECUTING"]);
    }));
});

describe("refuse_firing", () => {
  const refuse = (t: Transaction, id: string, now: string, refusal: string | null) =>
    t.call("refuse_firing", { id, now, retry_seconds: 30, max_age_seconds: 3_600, refusal });

  test("tries again after a while, for an hour", () =>
    withFiring(async (t, firing, account) => {
      const { id, taskRunId } = firing;
      await t.sql`update scheduled_firings set created_at = ${at(0)} where id = ${id}`;
      await refuse(t, id, at(0), "Too many active turns");
      expect(await take(t, account, at(0, 29))).toEqual([]);
      expect(await take(t, account, at(0, 30), 0)).toEqual([firing]);
      await refuse(t, id, at(61), "Too many active turns");
      expect(await take(t, account, at(99))).toEqual([]);
      const [run] = await t.sql`select status, error ->> 'message' as message from task_runs
        where id = ${taskRunId}`;
      expect(run).toEqual({ status: "EXPIRED", message: "Too many active turns" });
    }));

  test("ends with the next firing of the task, unless the firing was only handed over", () =>
    withFiring(async (t, first, account, task) => {
      await refuse(t, first.id, at(0), null);
      await fire(t, task, 1);
      expect(await statuses(t, account)).toEqual(["QUEUED", "QUEUED"]);
      await refuse(t, first.id, at(1), "Too many active turns");
      await fire(t, task, 2);
      expect(await statuses(t, account)).toEqual(["EXPIRED", "QUEUED", "QUEUED"]);
    }));
});

describe("the task run of a firing", () => {
  const starting = (work: (t: Transaction, turn: string, session: string) => Promise<void>) =>
    withFiring(async (t, firing, account) => {
      const { turn, session, chat } = await storeTurn(t, firing, "wrun_1");
      await work(t, turn, session);
      // The server that has started the run may be late to say so.
      const late = { id: firing.id, run_id: "wrun_1", chat_id: chat, session_id: session };
      const before = await statuses(t, account);
      await t.call("record_started_run", late);
      expect(await statuses(t, account)).toEqual(before);
      expect(before).not.toContain("QUEUED");
    });

  test.each(["completed", "failed", "cancelled"])("ends with its turn: %s", (status) =>
    starting(async (t, turn) => {
      await t.call("close_turn", { turn_id: turn, status, error: null });
      const [run] = await t.sql`select r.status from task_runs r
        join scheduled_firings f on f.task_run_id = r.id
        join turns on turns.effect_id = f.id where turns.id = ${turn}`;
      const expected = status === "cancelled" ? "CANCELED" : status.toUpperCase();
      expect(run?.status).toBe(expected);
    }),
  );

  // Two servers start one firing when the first takes longer than its lease.
  test("goes on with the run that one server has started, whatever becomes of the other", () =>
    withFiring(async (t, firing) => {
      const { id, taskRunId } = firing;
      const { turn, session, chat } = await storeTurn(t, firing, null);
      const started = { id, run_id: "wrun_1", chat_id: chat, session_id: session };
      const giveUp = () =>
        t.call("end_firing", { id, status: "FAILED", code: "not_found", message: "Gone" });
      const shown = async () => {
        const [row] = await t.sql`select r.status, r.error, r.finished_at is not null as ended,
            f.attempt_at is not null as waits, f.run_id
          from scheduled_firings f join task_runs r on r.id = f.task_run_id where f.id = ${id}`;
        return row;
      };
      // Before the run is known, the firing is given up; the run takes it back.
      await giveUp();
      await t.sql`update turns set run_id = 'wrun_1', status = 'running' where id = ${turn}`;
      await t.call("record_started_run", started);
      const runs = {
        status: "EXECUTING",
        error: null,
        ended: false,
        waits: false,
        run_id: "wrun_1",
      };
      expect(await shown()).toEqual(runs);
      // Once it is known, the firing is not given up.
      await t.sql`update scheduled_firings set attempt_at = now(), run_id = null where id = ${id}`;
      await t.sql`update task_runs set status = 'QUEUED' where id = ${taskRunId}`;
      await giveUp();
      expect(await shown()).toEqual(runs);
      // A refused request discards no firing whose run continues.
      await t.sql`update task_runs set status = 'QUEUED' where id = ${taskRunId}`;
      await t.call("discard_firing", { id });
      expect(await shown()).toMatchObject({ run_id: "wrun_1" });
      await t.call("close_turn", { turn_id: turn, status: "completed", error: null });
      expect(await shown()).toEqual({ ...runs, status: "COMPLETED", ended: true });
    }));

  test("ends as its turn did, though it was given up and nobody has settled it since", () =>
    withFiring(async (t, firing, account) => {
      const gone = { id: firing.id, status: "FAILED", code: "not_found", message: "Gone" };
      await t.call("end_firing", gone);
      const { turn } = await storeTurn(t, firing, "wrun_1");
      await t.call("close_turn", { turn_id: turn, status: "completed", error: null });
      expect(await statuses(t, account)).toEqual(["COMPLETED"]);
    }));

  test("ends as canceled when the session of its turn is deleted", () =>
    starting(async (t, _turn, session) => {
      await t.sql`delete from sessions where id = ${session}`;
    }));
});

const driven = z.object({ status: z.string(), firing: z.object({ id: z.uuid() }).nullable() });

describe("take_task_run", () => {
  const drive = async (t: Transaction, id: string) =>
    driven.parse(await t.call("take_task_run", { id, lease_seconds: 60 }));

  test("gives a firing that was handed over to one of all that ask", () =>
    withTask(async (t, account, task) => {
      await fire(t, task, 0);
      const now = new Date().toISOString();
      const [firing] = await take(t, account, now);
      const { id = "", taskRunId = "" } = firing ?? {};
      // The process that leased it has not transferred it yet.
      expect((await drive(t, taskRunId)).firing).toBeNull();
      const handed = { id, now, patience_seconds: 300, remote_run_id: "run_there" };
      await t.call("hand_over_firing", handed);
      expect(await take(t, account, now)).toEqual([]);
      expect(await drive(t, taskRunId)).toEqual({ status: "QUEUED", firing: { id } });
      expect((await drive(t, taskRunId)).firing).toBeNull();
    }));

  test("leaves a firing that was refused to its next attempt", () =>
    withTask(async (t, account, task) => {
      await fire(t, task, 0);
      const now = new Date().toISOString();
      const [firing] = await take(t, account, now);
      const { id = "", taskRunId = "" } = firing ?? {};
      const handed = { id, now, patience_seconds: 300, remote_run_id: "run_there" };
      await t.call("hand_over_firing", handed);
      await t.call("refuse_firing", {
        ...{ id, now, retry_seconds: 30, max_age_seconds: 3_600, refusal: "Too many active turns" },
      });
      expect((await drive(t, taskRunId)).firing).toBeNull();
      const later = new Date(Date.now() + 31_000).toISOString();
      expect((await take(t, account, later)).map((one) => one.id)).toEqual([id]);
    }));
});
