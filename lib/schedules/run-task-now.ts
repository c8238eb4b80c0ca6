import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { startFiring } from "./start-firing.ts";
import { discardFiring, fireTaskNow } from "./store.ts";

/**
 * Starts a run of a scheduled prompt. A run that cannot be started leaves nothing behind.
 * Errors: 404 `Task not found`, and those of `startFiring`.
 */
export async function runTaskNow(request: {
  readonly accountId: string;
  readonly id: string;
  readonly effectId: string;
  readonly idempotencyKey: string | null;
  readonly log: Logger;
}) {
  const { accountId, id, effectId, idempotencyKey, log } = request;
  const firing = await fireTaskNow(accountId, id, effectId, idempotencyKey);
  if (isAppError(firing)) return firing;
  const run = await startFiring(firing, log);
  if (!isAppError(run)) return { taskRunId: firing.taskRunId, ...run };
  await discardFiring(firing.id);
  return run satisfies AppError;
}
