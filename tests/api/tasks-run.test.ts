/** Runs of scheduled prompts: at their times, and when they are asked for. */
import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { runsIn } from "../support/fixtures/task-runs.ts";
import { createTask, fireTasks, readTask } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { type Client, client, createPerson, type Person } from "../support/harness/clients.ts";
import { conversationOf, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";
import { textOf } from "../support/harness/turn-stream.ts";

const DUE = "2026-01-05T08:00:00.000Z";

const makeDue = (id: string, at = DUE) =>
  sql`update scheduled_prompts set next_run_at = ${at} where id = ${id}`;

const taskRunsOf = async (caller: Client) => runsIn(await caller.get("/api/tasks/runs"));

/** Fires due prompts until the account's newest task run has this status. */
async function untilTaskRun(caller: Client, status: string) {
  return vi.waitFor(
    async () => {
      await fireTasks();
      const [newest] = await taskRunsOf(caller);
      expect(newest?.status).toBe(status);
      return newest;
    },
    { timeout: 60_000 },
  );
}

const turnsOf = ({ id }: Person) =>
  sql`select t.id, t.kind, t.instructions, t.run_id from turns t where account_id = ${id}`;

const started = z.strictObject({
  status: z.literal("success"),
  task_run_id: z.string(),
  run_id: z.string(),
  chat_id: z.uuid(),
  session_id: z.uuid(),
});

describe("GET /api/cron/tasks 200", () => {
  test("a time that has come starts one run, however often and by however many it is asked", async () => {
    const person = await createPerson();
    const template = await createTemplate(person.withKey, { is_private: true });
    const { id } = await createTask(person.withKey, { template_id: template.id });
    await makeDue(id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => fireTasks()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));

    const run = await untilTaskRun(person.withKey, "COMPLETED");
    expect(run).toMatchObject({
      taskIdentifier: "scheduled-prompt",
      tags: [`account:${person.id}`],
      metadata: { taskId: id, scheduledFor: DUE, runId: expect.stringMatching(/^wrun_/) },
      payload: { title: "Chart watch", prompt: "Say hello" },
      schedule: { id },
    });
    expect(await taskRunsOf(person.withKey)).toHaveLength(1);
    expect([...(await turnsOf(person))]).toMatchObject([
      { kind: "task", instructions: template.prompt },
    ]);
    const { last_run, next_run_at } = await readTask(person.withKey, id);
    expect(last_run).toMatchObject({
      task_run_id: run?.id,
      status: "COMPLETED",
      scheduled_for: DUE,
    });
    expect(Date.parse(next_run_at ?? "")).toBeGreaterThan(Date.now());
  });

  test("many times that were missed are made up by one run", async () => {
    const person = await createPerson();
    const { id } = await createTask(person.withKey, { schedule: "* * * * *", timezone: "UTC" });
    // A schedule of every minute that has not fired for a day.
    await sql`update scheduled_prompts
      set next_run_at = date_trunc('minute', now()) - interval '1 day' where id = ${id}`;
    await untilTaskRun(person.withKey, "COMPLETED");
    const missed = (await taskRunsOf(person.withKey)).filter(
      (run) => Date.parse(String(run.metadata?.scheduledFor)) < Date.now() - 3_600_000,
    );
    expect(missed).toHaveLength(1);
  });

  test("a task that is disabled, or deleted while it waits, starts nothing", async () => {
    const person = await createPerson();
    const [disabled, deleted] = await Promise.all([
      createTask(person.withKey, { enabled: false }),
      createTask(person.withKey),
    ]);
    await person.withKey.delete(`/api/tasks/${deleted.id}`);
    // The state left by a server that died between the firing and its start, and whose lease has expired.
    const id = `run_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
    await sql`insert into task_runs (id, account_id, status, task_identifier, tags)
      values (${id}, ${person.id}, 'QUEUED', 'scheduled-prompt', ${[`account:${person.id}`]})`;
    await sql`insert into scheduled_firings (id, account_id, task_run_id, attempt_at)
      values (${randomUUID()}, ${person.id}, ${id}, now())`;
    const run = await untilTaskRun(person.withKey, "CANCELED");
    expect(run?.id).toBe(id);
    expect((await readTask(person.withKey, disabled.id)).last_run).toBeNull();
    expect(await turnsOf(person)).toHaveLength(0);
  });

  test("what the task names may be gone: the task run fails and says so", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const template = await createTemplate(other.withKey);
    const { id } = await createTask(person.withKey, { template_id: template.id });
    await other.withKey.delete(`/api/agents/templates/${template.id}`);
    await makeDue(id);
    const run = await untilTaskRun(person.withKey, "FAILED");
    const found = await person.withKey.get(`/api/tasks/runs?runId=${run?.id}`);
    expect(runsIn(found)[0]?.error).toMatchObject({ message: "Template not found" });
    expect(await turnsOf(person)).toHaveLength(0);
  });

  test("an account with too many active turns has its run later", async () => {
    const person = await createPerson();
    const { id } = await createTask(person.withKey);
    const { session, chat } = await createSession(person.withKey);
    await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
        assistant_message_id, model_id)
      select gen_random_uuid(), ${person.id}, ${session.id}, ${chat.id}, gen_random_uuid()::text, 'running',
        'm' || n, 'a' || n, 'auto'
      from generate_series(1, 50) n`;
    await makeDue(id);
    const refusal = () =>
      fireTasks().then(() => sql`select refusal from scheduled_firings where task_id = ${id}`);
    await expect
      .poll(async () => (await refusal())[0]?.refusal)
      .toBe("Too many active turns: wait for one to end, or stop one");
    await untilTaskRun(person.withKey, "QUEUED");
    await sql`delete from turns where chat_id = ${chat.id}`;
    await sql`update scheduled_firings set attempt_at = now() where task_id = ${id}`;
    await untilTaskRun(person.withKey, "COMPLETED");
    expect(await turnsOf(person)).toHaveLength(1);
  });

  test("a run that was stopped is CANCELED", async () => {
    const person = await createPerson();
    const { id } = await createTask(person.withKey, { prompt: "run: sleep 100" });
    await makeDue(id);
    const { chatId } = z
      .object({ chatId: z.string() })
      .parse((await untilTaskRun(person.withKey, "EXECUTING"))?.metadata);
    await person.withKey.post(`/api/chat/${chatId}/stop`);
    await untilTaskRun(person.withKey, "CANCELED");
  });
});

describe("GET /api/cron/tasks 401", () => {
  test.each(["", "Bearer wrong", "wrong"])("%j is refused", async (authorization) => {
    const headers = { authorization };
    expectError(await client().get("/api/cron/tasks", { headers }), 401, "error", "Unauthorized");
  });
});

describe("POST /api/tasks/{id}/run 202", () => {
  test("starts a run of a task that need not be enabled, and leaves its schedule alone", async () => {
    const person = await createPerson();
    const made = await createTask(person.withKey, { enabled: false });
    const answer = await person.withKey.post(`/api/tasks/${made.id}/run`);
    expect(answer.status).toBe(202);
    const run = started.parse(answer.body);
    expect(answer.headers.get("location")).toBe(`/api/chat/runs/${run.run_id}`);
    const { run_id: runId, chat_id: chatId, session_id: sessionId } = run;
    const place = { runId, chatId, sessionId };
    expect((await waitForRun(person.withKey, place)).status).toBe("completed");
    const { messages } = await conversationOf(person.withKey, place).read();
    expect(messages.map(textOf)[0]).toBe("Say hello");
    const found = await person.withKey.get(`/api/tasks/runs?runId=${run.task_run_id}`);
    expect(runsIn(found)).toMatchObject([{ status: "COMPLETED", output: place }]);
    const { last_run, ...rest } = await readTask(person.withKey, made.id);
    expect(last_run).toMatchObject({ status: "COMPLETED", scheduled_for: null, run_id: runId });
    expect(rest).toMatchObject({ enabled: false, next_run_at: null });
  });
});

describe("POST /api/tasks/{id}/run 404", () => {
  test("a template that is gone is named", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const template = await createTemplate(other.withKey);
    const { id } = await createTask(owner.withKey, { template_id: template.id });
    await other.withKey.delete(`/api/agents/templates/${template.id}`);
    const answer = await owner.withKey.post(`/api/tasks/${id}/run`);
    expectError(answer, 404, "error", "Template not found");
    expect(await taskRunsOf(owner.withKey)).toEqual([]);
    expect(await turnsOf(owner)).toHaveLength(0);
  });
});
