/** The tasks of a Trigger.dev project. Its environment variables are the service's own. */
import { schedules, task, wait } from "@trigger.dev/sdk";
import { z } from "zod";
import * as service from "./await-task-run.ts";

/** Long enough for a restart of the service. */
const retry = { maxAttempts: 8, factor: 2, minTimeoutInMs: 1_000, maxTimeoutInMs: 60_000 };

const drivenTask = (id: string) =>
  task({
    id,
    retry,
    run: (payload: service.TaskPayload) =>
      service.awaitTaskRun(configured(), payload, (seconds) => wait.for({ seconds })),
  });

export const scheduledPrompt = drivenTask("scheduled-prompt");
export const generateImage = drivenTask("generate-image");
export const generateVideo = drivenTask("generate-video");

/** For services without a process that polls for due prompts itself; it is harmless for others. */
export const fireScheduledPrompts = schedules.task({
  id: "fire-scheduled-prompts",
  cron: { pattern: "* * * * *", window: "0m" },
  retry: { maxAttempts: 1 },
  run: () => service.fireScheduledPrompts(configured()),
});

function configured(): service.Service {
  const { PUBLIC_URL, CRON_SECRET } = process.env;
  return { url: z.url().parse(PUBLIC_URL), secret: z.string().parse(CRON_SECRET) };
}
