/** Records the examples of scheduled prompts. */
import { createHmac, randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import { z } from "zod";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { runsIn } from "../fixtures/task-runs.ts";
import { sendEvent } from "../fixtures/triggers.ts";
import { type Context, withId } from "./example-recorder.ts";

/** @param cronSecret the server's `CRON_SECRET` and `COMPOSIO_WEBHOOK_SECRET` */
export async function recordTasks(context: Context, cronSecret: string, texts: Placeholders) {
  const { record, caller } = context;
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
  await recordTriggers(context, task.id);
  await recordComposio(context, cronSecret, texts);
  await record("deleteTask", { params });
}

const created = withId.extend({ url: z.string(), secret: z.string() });

async function recordTriggers({ record, caller }: Context, taskId: string) {
  const params = { id: taskId };
  await caller.patch(`/api/tasks/${taskId}`, { enabled: true });
  const body = { kind: "webhook" };
  const trigger = await record("createTrigger", { params, body }, { schema: created });
  await record("listTriggers", { params, query: { limit: "10" } });
  const path = { ...params, trigger_id: trigger.id };
  const headers = { authorization: `Bearer ${trigger.secret}`, "webhook-id": "release-1" };
  const event = JSON.stringify({ release: "Harbour Lights", status: "live" });
  await record("receiveEvent", { params: { trigger_id: trigger.id }, headers, body: event });
  await sendEvent(trigger, event, headers);
  await record("listTriggerEvents", { params: path, query: { limit: "10" } });
  await record("deleteTrigger", { params: path });
}

/** Records a message of an account that this server does not have. */
async function recordComposio({ record }: Context, secret: string, texts: Placeholders) {
  const metadata = {
    ...{ trigger_id: "ti_a1b2", trigger_slug: "GMAIL_NEW_GMAIL_MESSAGE" },
    ...{ connected_account_id: "ca_c3d4", user_id: randomUUID() },
  };
  const data = { subject: "Harbour Lights" };
  const body = JSON.stringify({ type: "composio.trigger.message", metadata, data });
  const time = String(Math.floor(Date.now() / 1_000));
  const signed = createHmac("sha256", secret).update(`msg_1.${time}.${body}`).digest("base64");
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": time };
  texts.replaceText(time, "1795680000");
  texts.replaceText(signed, "a base64 signature");
  const request = { headers: { ...headers, "webhook-signature": `v1,${signed}` }, body };
  await record("receiveComposioEvent", request);
}
