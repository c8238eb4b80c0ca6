/** The runs of one scheduled prompt. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { taskFiring } from "../../lib/tasks/task.ts";
import { createTask, readTask } from "../support/fixtures/tasks.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const page = z.strictObject({
  status: z.literal("success"),
  runs: z.array(z.strictObject(taskFiring.shape)),
  next_cursor: z.string().nullable(),
});

async function readPage(caller: Client, id: string, query = "") {
  const answer = await caller.get(`/api/tasks/${id}/runs${query}`);
  expect(answer.status, answer.text).toBe(200);
  return { ...page.parse(answer.body), link: answer.headers.get("link") };
}

describe("GET /api/tasks/{id}/runs 200", () => {
  test("a run with what it led to, and none of another task", async () => {
    const person = await createPerson();
    const [made, other] = [await createTask(person.withKey), await createTask(person.withKey)];
    expect(await readPage(person.withKey, made.id)).toMatchObject({ runs: [], next_cursor: null });
    const { body } = await person.withKey.post(`/api/tasks/${made.id}/run`);
    const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(body);
    await waitForRun(person.withKey, { runId, chatId, sessionId });
    const { runs } = await readPage(person.withBearer, made.id);
    expect(runs).toMatchObject([
      { run_id: runId, chat_id: chatId, session_id: sessionId, status: "COMPLETED", error: null },
    ]);
    expect(runs[0]).toEqual((await readTask(person.withKey, made.id)).last_run);
    expect((await readPage(person.withKey, other.id)).runs).toEqual([]);
  });

  test("pages in order, with the reason of those that did not start", async () => {
    const person = await createPerson();
    const { id } = await createTask(person.withKey, { enabled: false });
    const taskRuns: string[] = [];
    for (let index = 0; index < 5; index++) {
      const taskRun = `run_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
      taskRuns.unshift(taskRun);
      await sql`insert into task_runs (id, account_id, status, task_identifier, tags, error)
        values (${taskRun}, ${person.id}, 'FAILED', 'scheduled-prompt', ${[`account:${person.id}`]},
          ${sql.json({ message: "Template not found" })})`;
      await sql`insert into scheduled_firings (id, account_id, task_id, task_run_id, fires_at)
        values (${randomUUID()}, ${person.id}, ${id}, ${taskRun}, ${new Date(index * 60_000)})`;
    }
    const seen = [];
    let query = "?limit=2";
    for (;;) {
      const { runs, next_cursor, link } = await readPage(person.withKey, id, query);
      seen.push(...runs);
      if (next_cursor === null) break;
      expect(link).toContain(`/api/tasks/${id}/runs?limit=2&cursor=`);
      query = `?limit=2&cursor=${next_cursor}`;
    }
    expect(seen.map(({ task_run_id }) => task_run_id)).toEqual(taskRuns);
    expect(seen[0]).toMatchObject({ run_id: null, chat_id: null, error: "Template not found" });
  });
});
