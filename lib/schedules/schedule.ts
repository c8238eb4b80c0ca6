import { config } from "../platform/config.ts";
import { drain } from "../platform/drain.ts";
import { log } from "../platform/log.ts";
import { processWide } from "../platform/process-wide.ts";
import { fireDueTasks } from "./fire-due-tasks.ts";

/** Starts the timer that fires scheduled prompts in this process, unless the settings turn it off. */
export function scheduleTasks(): void {
  const intervalSeconds = config().TASK_INTERVAL_SECONDS;
  if (intervalSeconds === 0) return;
  processWide("task timer", () => {
    let running: Promise<void> | undefined;
    drain().add(async () => running);
    return setInterval(() => {
      if (running || drain().hasBegun) return;
      running = fire().finally(() => {
        running = undefined;
      });
    }, intervalSeconds * 1_000).unref();
  });
}

async function fire(): Promise<void> {
  try {
    await fireDueTasks();
  } catch (error) {
    log().warn({ err: error }, "scheduled prompts could not be fired");
  }
}
