import { z } from "zod";
import { agentTool } from "./tool.ts";

const MAX_RECIPIENTS = 20;

/** The service checks the rest as `POST /api/tasks` does. */
export const scheduleInput = z.strictObject({
  title: z.string().min(1).max(200),
  prompt: z
    .string()
    .min(1)
    .max(10_000)
    .describe("The whole message to the agent of each run, which knows nothing of this chat"),
  cron: z
    .string()
    .max(200)
    .describe("Five fields; the minute is one number. 0 9 * * MON is each Monday at 9:00"),
  timezone: z.string().max(100).describe("IANA time zone, such as Europe/Berlin"),
  deliver: z
    .array(z.string().max(254))
    .min(1)
    .max(MAX_RECIPIENTS)
    .optional()
    .describe("Mail addresses that get each result"),
  until: z.iso.date().optional().describe("The last day of the schedule, as YYYY-MM-DD"),
});

export const schedule = agentTool({
  name: "schedule",
  description: `Create a task: a prompt that a new run without a user follows at each time of a schedule, at most once an hour. Gives {id, title, cron, timezone, next_run_at}.
- Only for work that the user wants repeated, or done later. Look with list_schedules whether there is such a task already.
- Each run starts with the files of the workspace, and without this chat: name in the prompt what to do, with which files, and what the result must be.
- The user is asked first. What the user has denied is not to be tried again.`,
  input: scheduleInput,
  execute: (input, { scheduleTask }) => scheduleTask(input),
});

export const listSchedules = agentTool({
  name: "list_schedules",
  description:
    "List the tasks of the account and get {schedules: [{id, title, cron, timezone, enabled, next_run_at}]}, at most 50, the newest first.",
  input: z.object({}),
  execute: (_, { listTasks }) => listTasks(),
});
