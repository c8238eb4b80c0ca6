/** Whose task runs this server shows: Trigger.dev's when it is configured, else its own. */
import { config } from "../config.ts";
import { createEmbeddedRunner } from "./embedded/provider.ts";
import type { TaskRunner } from "./task-runner.ts";
import { createTriggerRunner } from "./trigger/provider.ts";

let runner: TaskRunner | undefined;

export function taskRunner(): TaskRunner {
  runner ??= createRunner();
  return runner;
}

function createRunner(): TaskRunner {
  const { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: apiUrl } = config();
  return secretKey ? createTriggerRunner({ secretKey, apiUrl }) : createEmbeddedRunner();
}
