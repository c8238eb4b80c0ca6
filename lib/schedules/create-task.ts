import { checkModel } from "../agent/models/offer-models.ts";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { NewTask } from "./contract.ts";
import { nextRun } from "./next-run.ts";
import { insertTask } from "./store.ts";
import type { Task } from "./task.ts";

/**
 * Creates a scheduled prompt. The pipeline has checked the caller's access to the artist.
 * Errors: 400 for an unknown model or a schedule without any time, 403 for too many tasks, 404
 * `Template not found`.
 */
export async function createTask(
  accountId: string,
  id: string,
  values: NewTask,
): Promise<Task | AppError> {
  const fault = values.model === undefined ? undefined : await checkModel(values.model, "model");
  if (fault) return fault;
  const next = firstRun(values);
  if (isAppError(next)) return next;
  return insertTask(accountId, id, values, values.enabled ? next : null);
}

/** Returns when a task of this schedule fires first. Errors: 400 when it never does. */
export const firstRun = ({ schedule, timezone }: Pick<Task, "schedule" | "timezone">) =>
  nextRun(schedule, timezone, new Date()) ??
  appError("invalid_request", "schedule must have a time in the future");
