import { isAppError } from "../contract/app-error.ts";
import { log } from "../platform/log.ts";
import { services } from "../platform/services.ts";
import { type Firing, handOverFiring } from "./store.ts";

/**
 * Has the task runner run the task of a firing, where there is one. Returns whether it will ask for the
 * firing. This service starts a firing that the runner does not ask for in time, or cannot take. A
 * process that dies on the way leaves the firing to others, who hand over the same task run once more.
 * Never throws.
 * @param now for tests; null is the database's clock
 */
export async function handOver(firing: Firing, now: Date | null): Promise<boolean> {
  const { id, accountId, taskRunId, isHandedOver } = firing;
  const { tasks } = services();
  if (!tasks.start || isHandedOver) return false;
  try {
    const task = { accountId, taskIdentifier: "scheduled-prompt", taskRunId } as const;
    const remoteRunId = await tasks.start(task, log());
    if (isAppError(remoteRunId)) return false;
    await handOverFiring(id, now, remoteRunId);
    return true;
  } catch (error) {
    log().error({ err: error, taskRunId }, "a scheduled task could not be handed over");
    return false;
  }
}
