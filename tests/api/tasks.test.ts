/** Scheduled prompts: create, read, list, change, delete. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { task } from "../../lib/tasks/task.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTask, readTask, taskIn, validTask } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { createPerson, dataOf } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pageOfTasks = z.object({ tasks: z.array(task), next_cursor: z.string().nullable() });

describe("POST /api/tasks 201", () => {
  test("answers the task with its next time, by the clocks of its time zone", async () => {
    const person = await createPerson();
    const answer = await person.withKey.post("/api/tasks", validTask);
    expect(answer.status).toBe(201);
    const made = taskIn(answer);
    expect(made).toMatchObject({
      ...validTask,
      template_id: null,
      artist_id: null,
      model: null,
      enabled: true,
      last_run: null,
    });
    const next = new Date(made.next_run_at ?? 0);
    const local = { timeZone: "Europe/Berlin", weekday: "short", hour: "2-digit" } as const;
    expect(next.toLocaleString("en-GB", local)).toBe("Mon, 09");
    expect(next.getTime()).toBeGreaterThan(Date.now());
    expect(await readTask(person.withBearer, made.id)).toEqual(made);
  });

  test("one that is not enabled has no next time, and UTC is the default", async () => {
    const person = await createPerson();
    const made = await createTask(person.withKey, { enabled: false, timezone: null });
    expect(made).toMatchObject({ enabled: false, next_run_at: null, timezone: "UTC" });
  });

  test("with one Idempotency-Key one task is made", async () => {
    const person = await createPerson();
    const headers = { "idempotency-key": randomUUID() };
    const make = () => person.withKey.post("/api/tasks", validTask, { headers });
    const [first, again] = [await make(), await make()];
    expect(again.body).toEqual(first.body);
    expect(await sql`select from scheduled_prompts where account_id = ${person.id}`).toHaveLength(
      1,
    );
  });
});

describe("POST /api/tasks 400", () => {
  test.each([
    [{ schedule: "0 0 30 2 *" }, "schedule must have a time in the future"],
    [{ model: "no/such-model" }, "model must be one of the available models"],
  ])("%j is refused", async (values, error) => {
    const person = await createPerson();
    const answer = await person.withKey.post("/api/tasks", { ...validTask, ...values });
    expectError(answer, 400, "error", error);
  });
});

describe("POST /api/tasks 403", () => {
  test("an account has at most 100 tasks, also when requests come at once", async () => {
    const person = await createPerson();
    await sql`insert into scheduled_prompts
        (id, account_id, title, prompt, schedule, timezone, enabled)
      select gen_random_uuid(), ${person.id}, 'full', 'full', '* * * * *', 'UTC', false
      from generate_series(1, 98)`;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => person.withKey.post("/api/tasks", validTask)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 403, 403, 403]);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.headers.get("x-error-code")).toBe("quota_exceeded");
    expect(refused?.body).toEqual({
      status: "error",
      error: "The account has too many tasks: delete one first",
    });
  });
});

describe("GET /api/tasks 200", () => {
  test("pages of the caller's own tasks, newest first", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    await createTask(other.withKey);
    const made: string[] = [];
    for (const title of ["one", "two", "three"]) {
      made.unshift((await createTask(person.withKey, { title })).id);
    }
    const first = await person.withKey.get("/api/tasks?limit=2");
    expect(first.headers.get("link")).toContain('rel="next"');
    const { tasks, next_cursor } = pageOfTasks.parse(first.body);
    const rest = await person.withKey.get(`/api/tasks?limit=2&cursor=${next_cursor}`);
    expect(rest.headers.get("link")).toBeNull();
    const last = pageOfTasks.parse(rest.body);
    expect([...tasks, ...last.tasks].map(({ id }) => id)).toEqual(made);
    expect(last.next_cursor).toBeNull();
  });
});

describe("PATCH /api/tasks/{id} 200", () => {
  test("given fields change, the rest stays", async () => {
    const { withKey } = await createPerson();
    const template = await createTemplate(withKey, { is_private: true });
    const made = await createTask(withKey, { template_id: template.id });
    const path = `/api/tasks/${made.id}`;
    const updated_at = expect.any(String);
    const renamed = taskIn(await withKey.patch(path, { title: "Renamed", template_id: "" }));
    const removed = { template_id: null, template_version: null };
    expect(renamed).toEqual({ ...made, title: "Renamed", ...removed, updated_at });

    const artist_id = await makeArtist(withKey);
    const [{ id: model } = { id: "" }] = (await dataOf(withKey.api.GET("/api/models"))).models;
    const chosen = taskIn(
      await withKey.patch(path, { artist_id, model, template_id: template.id }),
    );
    expect(chosen).toMatchObject({ artist_id, model, template_id: template.id });
    const cleared = { artist_id: "", model: "", template_id: "" };
    const plain = taskIn(await withKey.patch(path, cleared));
    expect(plain).toEqual({ ...renamed, updated_at });

    const disabled = taskIn(await withKey.patch(path, { enabled: false }));
    expect(disabled).toEqual({ ...renamed, enabled: false, next_run_at: null, updated_at });
    const enabled = taskIn(await withKey.patch(path, { enabled: true }));
    expect(enabled).toEqual({ ...renamed, updated_at });

    const moved = taskIn(await withKey.patch(path, { timezone: "Asia/Tokyo" }));
    expect(moved.next_run_at).not.toBe(enabled.next_run_at);
    const hourly = taskIn(await withKey.patch(path, { schedule: "0 * * * *" }));
    expect(Date.parse(hourly.next_run_at ?? "")).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  test("a change of the title leaves a time that is due", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTask(withKey);
    await sql`update scheduled_prompts set next_run_at = '2026-01-05T08:00:00Z' where id = ${id}`;
    const renamed = taskIn(await withKey.patch(`/api/tasks/${id}`, { title: "Renamed" }));
    // It may have fired since: then it is the next one.
    const fired = await sql`select fires_at from scheduled_firings where task_id = ${id}`;
    const times = [...fired.map((row) => row.fires_at.toISOString()), renamed.next_run_at];
    expect(times).toContain("2026-01-05T08:00:00.000Z");
  });
});

describe("DELETE /api/artists/{account_id}", () => {
  test("pauses the schedules of the artist, and no others", async () => {
    const { withKey } = await createPerson();
    const artist_id = await makeArtist(withKey);
    const [paused, other] = [
      await createTask(withKey, { artist_id }),
      await createTask(withKey, { artist_id: await makeArtist(withKey) }),
    ];
    expect((await withKey.delete(`/api/artists/${artist_id}`)).status).toBe(200);
    expect(await readTask(withKey, paused.id)).toEqual({
      ...paused,
      ...{ artist_id: null, enabled: false, next_run_at: null, updated_at: expect.any(String) },
    });
    expect(await readTask(withKey, other.id)).toEqual(other);
  });
});

describe("PATCH /api/tasks/{id} 400", () => {
  test("a schedule without a time in the future is refused", async () => {
    const { withKey } = await createPerson();
    const made = await createTask(withKey);
    const answer = await withKey.patch(`/api/tasks/${made.id}`, { schedule: "0 0 30 2 *" });
    expectError(answer, 400, "error", "schedule must have a time in the future");
    expect(await readTask(withKey, made.id)).toEqual(made);
  });
});

describe("DELETE /api/tasks/{id} 200", () => {
  test("the task is gone", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTask(withKey);
    const deleted = await withKey.delete(`/api/tasks/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { status: "success" }]);
    expect((await withKey.get(`/api/tasks/${id}`)).status).toBe(404);
  });
});
