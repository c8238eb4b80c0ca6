/** Records the examples of scheduled prompts. */
import { expect, vi } from "vitest";
import { z } from "zod";
import { runsIn } from "../fixtures/task-runs.ts";
import { type Context, withId } from "./example-recorder.ts";

/** @param cronSecret the server's `CRON_SECRET` */
export async function recordTasks({ record, caller }: Context, cronSecret: string) {
  const body = {
    title: "Chart watch",
    prompt: "Check today's charts for our artists, and report what has moved.",
    schedule: "0 * * * *",
    timezone: "Europe/Berlin",
  };
  const headers = { "idempotency-key": "chart-watch-1" };
  const schema = z.object({ task: withId });
  const { task } = await record("createTask", { headers, body }, { schema });
  const params = { id: task.id };
  await record("getTask", { params });
  await record("updateTask", { params, body: { enabled: false } });
  await record("listTasks", { query: { limit: "10" } });
  const now = { "idempotency-key": "chart-watch-now" };
  const started = z.object({ task_run_id: z.string() });
  const run = await record("runTask", { params, headers: now }, { schema: started });
  // The examples show a run that has ended, however fast this machine is.
  const found = () => caller.get(`/api/tasks/runs?runId=${run.task_run_id}`);
  await vi.waitFor(async () => expect(runsIn(await found())[0]?.status).toBe("COMPLETED"), {
    timeout: 60_000,
  });
  await record("listTaskFirings", { params, query: { limit: "10" } });
  const scheduler = { authorization: `Bearer ${cronSecret}` };
  await record("fireTasks", { headers: scheduler });
  await record("driveTaskRun", { params: { id: run.task_run_id }, headers: scheduler });
  await record("deleteTask", { params });
}
