import { config } from "../platform/config.ts";
import { drain, runPeriodically } from "../platform/drain.ts";
import { fireDueTasks } from "./fire-due-tasks.ts";

/** Starts the timer that fires scheduled prompts in this process, unless the settings turn it off. */
export function scheduleTasks(): void {
  let firing: Promise<unknown> = Promise.resolve();
  drain().add(async () => void (await firing.catch(() => {})));
  runPeriodically("scheduled prompts", config().TASK_INTERVAL_SECONDS, () => {
    firing = fireDueTasks();
    return firing;
  });
}
