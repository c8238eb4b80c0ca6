/** Whose task runs this server shows: its own, and Trigger.dev's when that is configured. */
import { config } from "../platform/config.ts";
import { createEmbeddedRunner } from "./adapters/embedded/provider.ts";
import { createTriggerRunner } from "./adapters/trigger/provider.ts";
import { joinRunners } from "./join-runners.ts";
import type { TaskRunner } from "./port.ts";

let runner: TaskRunner | undefined;

export function taskRunner(): TaskRunner {
  runner ??= createRunner();
  return runner;
}

function createRunner(): TaskRunner {
  const { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: apiUrl } = config();
  const own = createEmbeddedRunner();
  return secretKey ? joinRunners(createTriggerRunner({ secretKey, apiUrl }), own) : own;
}
