/** Scheduled prompts, and the request with which a scheduler fires the due ones. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import {
  timezone as anyTimezone,
  dateTime,
  readableText,
  uuid,
  withAnyField,
  withoutTags,
} from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { acceptedVersion } from "../templates/template.ts";
import { isSchedule } from "./next-run.ts";
import { task, taskFiring, taskOptionChanges, taskOptions } from "./task.ts";

const title = readableText(z.string().trim().min(1).max(200), "title");
const prompt = withoutTags(z.string().trim().min(1).max(10_000)).meta({
  description: "The user's message",
});
const schedule = z
  .string()
  .trim()
  .max(200)
  .refine(isSchedule, { error: "schedule must be a cron expression of five fields" })
  .meta({
    description:
      "A cron expression of five fields: minute, hour, day of the month, month, day of the week",
    examples: ["0 9 * * MON"],
  });
const timezone = anyTimezone.meta({ description: "The time zone that the schedule is read in" });
const templateId = uuid.meta({
  description: "An agent template that the caller can see: its prompt instructs the agent",
});
const artistId = uuid.meta({ description: "The artist that the work is for" });
const model = z.string().trim().min(1).max(200).meta({
  description: "The `id` of a model in `GET /api/models`; its `default` when absent",
});

const byId = z.object({ id: uuid.describe("The task's `id`") });
const one = z.object({ status: z.literal("success"), task });

const shared = { tag: "Tasks", family: "error", auth: "required" } as const;
const named = { artistAccess: { in: "body", field: "artist_id" } } as const;

export const createTaskContract = contract({
  ...shared,
  ...named,
  method: "POST",
  path: "/api/tasks",
  tool: true,
  summary: "Schedule a prompt",
  description:
    "At each time of the schedule one headless run starts, in a session and a sandbox of its own, and shows in `GET /api/tasks/runs` as `scheduled-prompt`. Where clocks are put forward, a skipped time falls on the end of the gap; where they are put back, a fixed time counts once. Times that were missed while no server ran are made up by one run. While the account has too many active turns, a run is tried again for an hour, or until the next one is due, and then recorded as `EXPIRED`. An account has at most 100 tasks.",
  idempotent: true,
  strictBody: true,
  body: z.object({
    title,
    prompt,
    template_id: templateId.optional(),
    template_version: acceptedVersion,
    schedule,
    timezone: timezone.default("UTC"),
    artist_id: artistId.optional(),
    model: model.optional(),
    ...taskOptions.shape,
    enabled: z.boolean().default(true),
  }),
  responses: { 201: { description: "The task", schema: one } },
  errors: ["quota_exceeded", "not_found"],
});
export type NewTask = z.output<typeof createTaskContract.body>;

export const listTasksContract = contract({
  ...shared,
  method: "GET",
  path: "/api/tasks",
  tool: true,
  summary: "List scheduled prompts, newest first",
  query: pageQuery,
  responses: pageResponse("tasks", task),
  errors: [],
});

export const getTaskContract = contract({
  ...shared,
  method: "GET",
  path: "/api/tasks/{id}",
  tool: true,
  summary: "Read a scheduled prompt",
  params: byId,
  responses: { 200: { description: "The task", schema: one } },
  errors: ["not_found"],
});

/** Null would mean that the field is absent. */
const uuidOrEmpty = (field: string) =>
  z.union([uuid, z.literal("")], { error: `${field} must be a valid UUID` }).optional();

const changes = z.object({
  title: title.optional(),
  prompt: prompt.optional(),
  template_id: uuidOrEmpty("template_id").meta({ description: templateId.description }),
  template_version: acceptedVersion,
  schedule: schedule.optional(),
  timezone: timezone.optional(),
  artist_id: uuidOrEmpty("artist_id").meta({ description: artistId.description }),
  model: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: "The `id` of a model in `GET /api/models`" }),
  ...taskOptionChanges.shape,
  enabled: z.boolean().optional(),
});
export type TaskChanges = z.output<typeof changes>;

export const updateTaskContract = contract({
  ...shared,
  ...named,
  method: "PATCH",
  path: "/api/tasks/{id}",
  tool: true,
  summary: "Change, enable or disable a scheduled prompt",
  description:
    "Omitted fields stay unchanged. An empty text as `template_id`, `artist_id`, `model`, `deliver` or an option, and empty `limits` remove the present value. A new schedule counts from now on. Runs that have started go on.",
  params: byId,
  strictBody: true,
  body: withAnyField(changes),
  responses: { 200: { description: "The task", schema: one } },
  errors: ["not_found", "conflict"],
});

export const deleteTaskContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/tasks/{id}",
  tool: true,
  summary: "Delete a scheduled prompt",
  description: "Its runs stay, and one that has started goes on.",
  params: byId,
  responses: successResponse("The task was deleted", {}),
  errors: ["not_found"],
});

export const listTaskFiringsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/tasks/{id}/runs",
  tool: true,
  summary: "List the runs of a scheduled prompt, newest first",
  params: byId,
  query: pageQuery,
  responses: pageResponse("runs", taskFiring),
  errors: ["not_found"],
});

export const runTaskContract = contract({
  ...shared,
  method: "POST",
  path: "/api/tasks/{id}/run",
  tool: true,
  summary: "Start a run of a scheduled prompt now",
  description: "Its schedule stays as it is, and it need not be enabled.",
  idempotent: true,
  params: byId,
  responses: {
    202: {
      description: "The run was accepted",
      headers: ["location"],
      schema: z.object({
        status: z.literal("success"),
        task_run_id: z.string(),
        run_id: z.string(),
        chat_id: uuid.meta({ description: "The chat that the run writes to" }),
        session_id: uuid.meta({ description: "The session that was provisioned for the run" }),
      }),
    },
  },
  errors: [
    "budget_reached",
    "messages_full",
    "not_found",
    "sandboxes_full",
    "too_many_turns",
    "upstream_error",
  ],
});

const ofCron = {
  tag: "Tasks",
  family: "error",
  auth: "none",
  headers: z.object({
    authorization: z.string().optional().meta({ description: "`Bearer` and the `CRON_SECRET`" }),
  }),
} as const;

export const fireTasksContract = contract({
  ...ofCron,
  method: "GET",
  path: "/api/cron/tasks",
  summary: "Fire the scheduled prompts that are due",
  description:
    "For deployments without a long-running process, such as Vercel, whose cron jobs call it with `CRON_SECRET`. It also sends the results that wait for their delivery. It may be called at any time and by several at once.",
  responses: successResponse(
    "How many firings were made, and how many runs were started here, without those that Trigger.dev was given",
    { fired: z.int(), started: z.int() },
  ),
  errors: ["unauthorized", "not_configured"],
});

export const driveTaskRunContract = contract({
  ...ofCron,
  method: "POST",
  path: "/api/cron/task-runs/{id}",
  summary: "Do the next of a task run",
  description:
    "For the tasks at Trigger.dev, which call it with `CRON_SECRET` until the run has ended. The first call starts the work; any number of them start it once.",
  params: z.object({ id: z.string().meta({ description: "The `id` of a task run" }) }),
  responses: successResponse("The state that the run was found in", {
    task_run: z.object({
      id: z.string(),
      status: z.string().meta({ examples: ["QUEUED", "EXECUTING", "COMPLETED"] }),
      finished_at: dateTime.nullable(),
    }),
  }),
  errors: ["unauthorized", "not_found", "not_configured"],
});

export const apiTags = { Tasks: "Scheduled prompts, and background runs." };
