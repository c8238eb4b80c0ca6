/**
 * The questions of a task at Trigger.dev; the runs that it starts are in
 * tests/adapters/tasks/trigger-tasks.test.ts.
 */
import { describe, expect, test } from "vitest";
import { expectError } from "../support/fixtures/shapes.ts";
import { insertRun, newRunId, plainRun } from "../support/fixtures/task-runs.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { setting } from "../support/harness/stack.ts";

const drive = (id: string, authorization = `Bearer ${setting("CRON_SECRET")}`) =>
  client().post(`/api/cron/task-runs/${encodeURIComponent(id)}`, undefined, {
    headers: { authorization },
  });

async function aRun(change: Parameters<typeof plainRun>[1]): Promise<string> {
  const { id: account } = await createPerson();
  const run = plainRun(account, change);
  await insertRun(account, run);
  return run.id;
}

describe("POST /api/cron/task-runs/{id} 200", () => {
  test("tells the state of a run of any account, and nothing else of it", async () => {
    const finishedAt = "2026-11-20T12:03:00.003Z";
    const [active, ended] = await Promise.all([
      aRun({ status: "EXECUTING" }),
      aRun({ status: "FAILED", finishedAt, payload: { prompt: "private" } }),
    ]);
    expect((await drive(active)).body).toEqual({
      status: "success",
      task_run: { id: active, status: "EXECUTING", finished_at: null },
    });
    expect((await drive(ended)).body).toEqual({
      status: "success",
      task_run: { id: ended, status: "FAILED", finished_at: finishedAt },
    });
  });
});

describe("POST /api/cron/task-runs/{id} 401", () => {
  test.each(["", "Bearer wrong", "wrong"])("%j is refused", async (authorization) => {
    expectError(await drive(await aRun({}), authorization), 401, "error", "Unauthorized");
  });
});

describe("POST /api/cron/task-runs/{id} 404", () => {
  test.each([newRunId(), "run_", "../tasks"])("%s is no run", async (id) => {
    expectError(await drive(id), 404, "error", "Task run not found");
  });
});
