import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { handOver } from "./hand-over.ts";
import { startFiring } from "./start-firing.ts";
import { discardFiring, fireTaskNow } from "./store.ts";

/**
 * Starts a run of a scheduled prompt, whose caller waits for its id. The run is handed over to the task
 * runner, if any, afterwards. A run that cannot be started leaves nothing behind. Errors: 404 `Task not
 * found`, and as `startFiring`.
 */
export async function runTaskNow(request: {
  readonly accountId: string;
  readonly id: string;
  readonly effectId: string;
  readonly idempotencyKey: string | null;
  readonly log: Logger;
  /** Keeps a serverless platform from suspending the process after the response. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}) {
  const { accountId, id, effectId, idempotencyKey, log, keepAlive } = request;
  const firing = await fireTaskNow(accountId, id, effectId, idempotencyKey);
  if (isAppError(firing)) return firing;
  const run = await startFiring(firing, log);
  if (!isAppError(run)) {
    keepAlive(handOver(firing, null));
    return { taskRunId: firing.taskRunId, ...run };
  }
  await discardFiring(firing.id);
  return run satisfies AppError;
}
