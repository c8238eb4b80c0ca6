/** Creates and changes scheduled prompts. The pipeline has checked the caller's access to the artist. */

import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import { endUnusedSubscriptions } from "../connectors/use-connectors.ts";
import { checkRecipients } from "../delivery/addresses.ts";
import { checkModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { checkOptions } from "../templates/check-options.ts";
import type { NewTask, TaskChanges } from "./contract.ts";
import { nextRun } from "./next-run.ts";
import { insertTask, removeTask, selectTask, updateTaskFields } from "./store.ts";
import type { Task } from "./task.ts";

/**
 * Creates a scheduled prompt. Errors: 400 for an unknown model, a recipient that may not get results, or a schedule without any time before `ends_at`, 403 for too
 * many tasks, 404 `Template not found`.
 */
export async function createTask(
  app: Parts<"db" | "models" | "queues">,
  accountId: string,
  id: string,
  values: NewTask,
): Promise<Task | AppError> {
  const fault =
    (await checkModel(app, values.model, "model")) ??
    (await checkOptions(app, accountId, values)) ??
    (await checkRecipients(app.db, accountId, values.deliver));
  if (fault) return fault;
  const next = firstRun(values);
  if (isAppError(next)) return next;
  return insertTask(app.db, accountId, id, values, values.enabled ? next : null);
}

/**
 * Changes a scheduled prompt. A time that is due and has not fired yet is dropped when the schedule, the
 * time zone or `enabled` changes. Errors: as `createTask`, 404 `Task not found`, 409 when another request
 * changes the task at the same time.
 */
export async function updateTask(
  app: Parts<"db" | "models" | "queues">,
  accountId: string,
  id: string,
  changes: TaskChanges,
): Promise<Task | AppError> {
  const fault =
    (await checkModel(app, changes.model, "model")) ??
    (await checkOptions(app, accountId, changes)) ??
    (await checkRecipients(app.db, accountId, changes.deliver));
  if (fault) return fault;
  const read = await selectTask(app.db, accountId, id);
  if (isAppError(read)) return read;
  const next = nextOf(read, changes);
  return isAppError(next) ? next : updateTaskFields(app.db, accountId, read, changes, next);
}

/** Deletes a scheduled prompt, and ends the subscriptions of its triggers. Errors: 404 `Task not found`. */
export async function deleteTask(
  app: Parts<"db" | "connectors">,
  accountId: string,
  id: string,
  log: Logger,
): Promise<AppError | undefined> {
  const refused = await removeTask(app.db, accountId, id);
  if (!refused) await endUnusedSubscriptions(app, accountId, log);
  return refused;
}

/** Returns undefined when the next time does not change. */
function nextOf(read: Task, changes: TaskChanges): Date | null | undefined | AppError {
  const { schedule = read.schedule, timezone = read.timezone, enabled = read.enabled } = changes;
  const { ends_at = read.ends_at } = changes;
  const isSame =
    schedule === read.schedule &&
    timezone === read.timezone &&
    enabled === read.enabled &&
    (ends_at || undefined) === read.ends_at;
  if (isSame) return undefined;
  const next = firstRun({ schedule, timezone, ends_at: ends_at || undefined });
  return isAppError(next) || enabled ? next : null;
}

function firstRun({
  schedule,
  timezone,
  ends_at,
}: Pick<Task, "schedule" | "timezone" | "ends_at">) {
  const next = nextRun(schedule, timezone, new Date());
  if (!next) return appError("invalid_request", "schedule must have a time in the future");
  if (ends_at === undefined || next <= new Date(ends_at)) return next;
  return invalidField("ends_at", "ends_at must not be before the next time of the schedule");
}
