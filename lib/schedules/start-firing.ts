import type { Logger } from "pino";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { type StartedRun, startRun } from "../turns/start-run.ts";
import { type Firing, settleFiring } from "./store.ts";

/**
 * Starts the run of a firing. Safe to repeat, also at the same time on several servers: the firing's id
 * is the effect id of its run. Errors: 404 when a resource that the task names is gone, and as
 * `startRun`.
 */
export async function startFiring(firing: Firing, log: Logger): Promise<StartedRun | AppError> {
  const { id, accountId, task } = firing;
  if (!task) return taskDeleted;
  if (!task.seesArtist) return appError("not_found", "Artist not found");
  const run = await startRun({
    caller: { accountId, ownerId: accountId, credential: { kind: "schedule" } },
    effectId: id,
    kind: "task",
    given: { prompt: task.prompt },
    artistId: task.artistId,
    model: task.modelId,
    template_id: task.templateId,
    log,
  });
  if (!isAppError(run)) await settleFiring(id, run);
  return run;
}

export const taskDeleted = appError("not_found", "The task was deleted");
