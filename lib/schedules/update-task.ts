import { checkModel } from "../agent/models/offer-models.ts";
import { type AppError, isAppError } from "../contract/app-error.ts";
import type { TaskChanges } from "./contract.ts";
import { firstRun } from "./create-task.ts";
import { selectTask, updateTaskFields } from "./store.ts";
import type { Task } from "./task.ts";

/**
 * Changes a scheduled prompt. A time that is due and has not fired yet is dropped when the schedule, the
 * time zone or `enabled` changes. Errors: as `createTask`, 404 `Task not found`, 409 when another request
 * changes the task at the same time.
 */
export async function updateTask(
  accountId: string,
  id: string,
  changes: TaskChanges,
): Promise<Task | AppError> {
  const fault = changes.model ? await checkModel(changes.model, "model") : undefined;
  if (fault) return fault;
  const read = await selectTask(accountId, id);
  if (isAppError(read)) return read;
  const next = nextOf(read, changes);
  return isAppError(next) ? next : updateTaskFields(accountId, read, changes, next);
}

/** Returns undefined when the next time does not change. */
function nextOf(read: Task, changes: TaskChanges): Date | null | undefined | AppError {
  const { schedule = read.schedule, timezone = read.timezone, enabled = read.enabled } = changes;
  const isSame =
    schedule === read.schedule && timezone === read.timezone && enabled === read.enabled;
  if (isSame) return undefined;
  const next = firstRun({ schedule, timezone });
  return isAppError(next) || enabled ? next : null;
}
