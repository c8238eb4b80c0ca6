/** Triggers of tasks: created, listed and deleted, and the runs that their events start. */

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { run } from "../../lib/running-turn/run.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTask, fireTasks } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { acceptedOf, createTrigger, eventsOf, sendEvent } from "../support/fixtures/triggers.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql, stack } from "../support/harness/stack.ts";

/** Waits until a run has ended, and returns it. */
async function endOf(caller: Client, runId: string | null) {
  const read = async () =>
    z.object(run.shape).parse((await caller.get(`/api/chat/runs/${runId}`)).body);
  await expect.poll(async () => (await read()).status).toBe("completed");
  return read();
}

/** The event in the sandbox of a run that has ended. */
async function eventOf(caller: Client, runId: string | null): Promise<string> {
  const { sessionId } = await endOf(caller, runId);
  const path = `/api/sandbox/files/content?sessionId=${sessionId}&path=uploads/event.json`;
  const answer = await caller.get(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

const turnsOf = (accountId: string) => sql`select * from turns where account_id = ${accountId}`;

describe("POST /api/triggers/{trigger_id} 202", () => {
  test("starts one run with the body as event.json, however often and at once it arrives", async () => {
    const { id, withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    const text = '{ "release": "Harbour Lights", "__proto__": {"admin": true}, "note": "\\u0000" }';
    const headers = { "webhook-id": "msg_1" };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => acceptedOf(sendEvent(trigger, text, headers))),
    );
    const [first] = answers;
    expect(new Set(answers.map(({ run_id }) => run_id))).toEqual(new Set([first?.run_id]));
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await eventOf(withKey, first?.run_id ?? null)).toBe(text);

    expect([...(await turnsOf(id))]).toMatchObject([
      {
        kind: "task",
        run_id: first?.run_id,
        instructions: expect.stringContaining("a stranger"),
        untrusted: [{ kind: "event", name: "event.json" }],
      },
    ]);
    const [event, ...more] = await eventsOf(withKey, trigger);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      event_id: "msg_1",
      content_type: "application/json",
      size: text.length,
      requests: 6,
      status: "started",
      reason: null,
      run_id: first?.run_id,
    });
    // The row that leads from the run to its event, and keeps nothing of its content.
    expect([
      ...(await sql`select content from trigger_events where trigger_id = ${trigger.id}`),
    ]).toEqual([{ content: null }]);
    const [linked] = await sql`select run_id from turns where effect_id = ${event?.id ?? ""}`;
    expect(linked?.run_id).toBe(first?.run_id);
    const listed = await withKey.get(`/api/tasks/${trigger.task_id}/runs`);
    expect(listed.body).toMatchObject({ runs: [{ run_id: first?.run_id, status: "COMPLETED" }] });
  });

  test("an event whose server died before the start is one run, with its content", async () => {
    const { id, withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    const accept = (lease: number) =>
      sql`select receive_trigger_event(${trigger.id}, ${randomUUID()}, 'key-1', null, 2,
        ${"0".repeat(64)}, '{"from":"the dead"}', 60, ${lease})`;
    await accept(0);
    await fireTasks();
    await expect.poll(async () => (await eventsOf(withKey, trigger))[0]?.status).toBe("started");
    const headers = { "idempotency-key": "key-1" };
    const again = await acceptedOf(sendEvent(trigger, {}, headers));
    expect(again.duplicate).toBe(true);
    expect(await eventOf(withKey, again.run_id)).toBe('{"from":"the dead"}');
    expect(await turnsOf(id)).toHaveLength(1);
  });

  test("while the account has too many turns the event waits, and its run starts later", async () => {
    const { id, withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    const [session] = await sql`insert into sessions (account_id) values (${id}) returning id`;
    const [chat] = await sql`insert into chats (session_id, account_id, title, model_id)
      values (${session?.id}, ${id}, '', 'auto') returning id`;
    await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
        assistant_message_id, model_id)
      select gen_random_uuid(), ${id}, ${session?.id}, ${chat?.id}, gen_random_uuid()::text, 'running',
        'm' || n, 'a' || n, 'auto'
      from generate_series(1, 50) n`;
    const headers = { "webhook-id": "msg_1" };
    const waiting = { status: "success", run_id: null };
    const first = await acceptedOf(sendEvent(trigger, {}, headers));
    expect(first).toEqual({ ...waiting, duplicate: false });
    const again = await acceptedOf(sendEvent(trigger, {}, headers));
    expect(again).toEqual({ ...waiting, duplicate: true });
    expect(await eventsOf(withKey, trigger)).toMatchObject([
      { status: "waiting", reason: "Too many active turns: wait for one to end, or stop one" },
    ]);
    await sql`delete from turns where chat_id = ${chat?.id}`;
    await sql`update scheduled_firings set attempt_at = now() where task_id = ${trigger.task_id}`;
    await fireTasks();
    await expect.poll(async () => (await eventsOf(withKey, trigger))[0]?.status).toBe("started");
    expect((await acceptedOf(sendEvent(trigger, {}, headers))).run_id).toMatch(/^wrun_/);
  });

  test("a secret in the URL, where that was asked for", async () => {
    const { withKey } = await createPerson();
    const trigger = await createTrigger(withKey, { secret_in_url: true });
    expect(trigger.url).toBe(`${stack.url}/api/triggers/${trigger.id}?secret=${trigger.secret}`);
    const response = await fetch(trigger.url, { method: "POST", body: "a=1&b=2" });
    const { run_id } = await acceptedOf(Promise.resolve(response));
    expect(JSON.parse(await eventOf(withKey, run_id))).toEqual({
      content_type: "text/plain;charset=UTF-8",
      body: "a=1&b=2",
    });
    const { triggers } = Object((await withKey.get(`/api/tasks/${trigger.task_id}/triggers`)).body);
    expect(triggers).toMatchObject([{ url: `${stack.url}/api/triggers/${trigger.id}` }]);
    expect(JSON.stringify(triggers)).not.toContain(trigger.secret);
  });

  test("a file of bytes comes in base64", async () => {
    const { withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    const bytes = new Uint8Array([0xff, 0xfe, 0x00, 0x41]);
    const headers = { "content-type": "application/octet-stream" };
    const { run_id } = await acceptedOf(sendEvent(trigger, bytes, headers));
    expect(JSON.parse(await eventOf(withKey, run_id))).toEqual({
      content_type: "application/octet-stream",
      body_base64: Buffer.from(bytes).toString("base64"),
    });
  });
});

describe("POST /api/triggers/{trigger_id} starts nothing", () => {
  test("409 while the task is disabled, 429 beyond 60 events an hour: one entry for each", async () => {
    const { id, withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    const other = await createTrigger(withKey, {}, trigger.task_id);
    const enable = (enabled: boolean) =>
      withKey.patch(`/api/tasks/${trigger.task_id}`, { enabled });
    await enable(false);
    expect((await sendEvent(trigger)).status).toBe(409);
    expect((await sendEvent(trigger)).status).toBe(409);
    await enable(true);
    await sql`insert into trigger_events (id, account_id, trigger_id, size, sha256, created_at)
      select gen_random_uuid(), ${id}, ${trigger.id}, 2, '', now() - n * interval '40 seconds'
      from generate_series(30, 89) n`;
    const refused = await sendEvent(trigger);
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect((await sendEvent(trigger)).status).toBe(429);
    expect((await eventsOf(withKey, trigger)).slice(0, 2)).toMatchObject([
      {
        status: "refused",
        requests: 2,
        reason: "The trigger has accepted 60 events within an hour",
        run_id: null,
      },
      {
        status: "refused",
        requests: 2,
        reason: "The task is disabled: enable it to accept events",
      },
    ]);
    expect(await turnsOf(id)).toHaveLength(0);
    await acceptedOf(sendEvent(other));
  });

  test("when a firing could not start: over the budget, a template or an artist that is gone", async () => {
    const [person, stranger] = await Promise.all([createPerson(), createPerson()]);
    const { withKey } = person;
    const template = await createTemplate(stranger.withKey);
    const [gone, foreign, poor] = await Promise.all([
      createTask(withKey, { template_id: template.id }),
      createTask(withKey),
      createTask(withKey),
    ]);
    await stranger.withKey.delete(`/api/agents/templates/${template.id}`);
    await sql`update scheduled_prompts set artist_id = ${randomUUID()} where id = ${foreign.id}`;
    const refusalOf = async (taskId: string, status: number, reason: string) => {
      const trigger = await createTrigger(withKey, {}, taskId);
      const headers = { "webhook-id": "msg_1" };
      for (const attempt of ["the first", "a repetition"]) {
        const answer = await sendEvent(trigger, {}, headers);
        expect(answer.status, attempt).toBe(status);
        expect(await answer.json()).toEqual({ status: "error", error: reason });
      }
      expect(await eventsOf(withKey, trigger)).toMatchObject([
        { status: "refused", reason, requests: 2 },
      ]);
    };
    await refusalOf(gone.id, 404, "Template not found");
    await refusalOf(foreign.id, 404, "Artist not found");
    await sql`update accounts set monthly_budget_usd = 0 where id = ${person.id}`;
    await refusalOf(poor.id, 402, "Monthly budget reached");
    expect(await turnsOf(person.id)).toHaveLength(0);
  });
});

describe("POST /api/tasks/{id}/triggers", () => {
  test("400 for a secret that does not suit the signature", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTask(withKey);
    const secret = "0123456789abcdef";
    const faults: [object, string][] = [
      [{ secret }, "secret must not be set without signature: one is made"],
      [
        { signature: "github", secret_in_url: true },
        "secret_in_url must not be set with signature",
      ],
      [{ signature: "slack" }, "secret is required: the signing secret of the Slack app"],
      [{ signature: "standard", secret }, "secret must be whsec_ and a key in base64"],
      [
        { signature: "github", secret: "sixteen letters " },
        "secret must be printable ASCII without spaces",
      ],
    ];
    for (const [body, text] of faults) {
      const answer = await withKey.post(`/api/tasks/${id}/triggers`, { kind: "webhook", ...body });
      expectError(answer, 400, "error", text);
    }
    const unknown = await withKey.post(`/api/tasks/${id}/triggers`, {});
    expectError(unknown, 400, "error", "kind must be one of webhook, connector");
  });

  test("403 beyond ten of a task, also at once", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTask(withKey);
    const path = `/api/tasks/${id}/triggers`;
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => withKey.post(path, { kind: "webhook" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = answers.find(({ status }) => status !== 201);
    const text = "The task has 10 triggers: delete one to make room";
    if (refused) expectError(refused, 403, "error", text);
    expect(refused).toBeDefined();
  });
});

describe("DELETE /api/tasks/{id}/triggers/{trigger_id}", () => {
  test("the URL answers as if it had never been, and an event that waits starts nothing", async () => {
    const { id, withKey } = await createPerson();
    const trigger = await createTrigger(withKey);
    // Leased, because other tests fire due prompts.
    await sql`select receive_trigger_event(${trigger.id}, ${randomUUID()}, null, null, 2,
      ${"0".repeat(64)}, '{}', 60, 3600)`;
    const path = `/api/tasks/${trigger.task_id}/triggers/${trigger.id}`;
    expect((await withKey.delete(`/api/tasks/${randomUUID()}/triggers/${trigger.id}`)).status).toBe(
      404,
    );
    expect((await withKey.delete(path)).status).toBe(200);
    expectError(await withKey.delete(path), 404, "error", "Trigger not found");
    expect((await sendEvent(trigger)).status).toBe(401);
    await fireTasks();
    const { runs } = Object((await withKey.get(`/api/tasks/${trigger.task_id}/runs`)).body);
    expect(runs).toMatchObject([{ status: "CANCELED", error: "The trigger was deleted" }]);
    expect(await turnsOf(id)).toHaveLength(0);
  });
});
