/** The scheduled prompt as callers see it. */

import { dateTime, instant, uuid } from "@platform/endpoint/contract/fields";
import { removable, runOptionChanges, runOptions } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { deliver, deliverChange } from "../delivery/contract.ts";
import { keptVersion, templateUpdate } from "../templates/template.ts";

/** The options of a task: the options of its runs, who gets their results, and its end. */
export const taskOptions = runOptions.extend({
  deliver: deliver.optional(),
  ends_at: instant.optional().meta({
    description: "The task is disabled when its next time would be later.",
  }),
});
export const taskOptionChanges = runOptionChanges.extend({
  deliver: deliverChange,
  ends_at: removable(taskOptions.shape.ends_at, "ends_at must be a date and time"),
});

/** One run of a task, by its schedule or on request. */
export const taskFiring = z
  .object({
    task_run_id: z.string().meta({ description: "For `runId` of `GET /api/tasks/runs`" }),
    run_id: z
      .string()
      .nullable()
      .meta({ description: "For `GET /api/chat/runs/{runId}`; null until the run has started" }),
    chat_id: uuid.nullable().meta({ description: "The chat that has the answer" }),
    session_id: uuid.nullable().meta({ description: "The session of that chat" }),
    status: z.string().meta({
      description: "As of the task run: QUEUED, EXECUTING, COMPLETED, FAILED, CANCELED or EXPIRED",
    }),
    error: z.string().nullable().meta({ description: "Why it failed, or could not start" }),
    scheduled_for: dateTime.nullable().meta({
      description:
        "The time of the schedule; null for a run that was asked for, or that an event started",
    }),
    created_at: dateTime,
    finished_at: dateTime.nullable(),
  })
  .meta({ id: "TaskFiring" });
export type TaskFiring = z.output<typeof taskFiring>;

export const task = z
  .object({
    id: uuid,
    title: z.string(),
    prompt: z.string(),
    template_id: uuid.nullable(),
    template_version: keptVersion.nullable(),
    template_update: templateUpdate.nullable(),
    schedule: z.string().meta({ examples: ["0 9 * * MON"] }),
    timezone: z.string().meta({ examples: ["Europe/Berlin"] }),
    artist_id: uuid.nullable(),
    model: z.string().nullable().meta({ description: "Null for the default model" }),
    ...taskOptions.shape,
    enabled: z.boolean(),
    next_run_at: dateTime.nullable().meta({ description: "Null while the task is disabled" }),
    last_run: taskFiring.nullable().meta({ description: "Null before the first run" }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: "Task" });
export type Task = z.output<typeof task>;
