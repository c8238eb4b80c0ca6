/**
 * Scheduled prompts and their firings (supabase/schemas/60_schedules.sql). This file is long because it has all of
 * their queries.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { optionsIn } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { NewTask, TaskChanges } from "./contract.ts";
import {
  type Task,
  type TaskFiring,
  task,
  taskFiring,
  taskOptionChanges,
  taskOptions,
} from "./task.ts";

/** An account has at most so many tasks. */
const MAX_TASKS = 100;

const refused = refusalOf({
  missing: appError("not_found", "Task not found"),
  template: appError("not_found", "Template not found"),
  template_version: appError("not_found", "Template version not found"),
  full: appError("quota_exceeded", "The account has too many tasks: delete one first"),
  changed: appError("conflict", "The task was changed at the same time: try again"),
});
const storedFiring = rowOf(taskFiring, {
  status: "run_status",
  error: "run_error",
  scheduled_for: "fires_at",
  created_at: "run_created_at",
  finished_at: "run_finished_at",
});
const storedTask = rowOf(task.extend({ last_run: storedFiring.nullable() }), { model: "model_id" });
const found = z.object({ task: storedTask }).transform((answer) => answer.task);

/** Errors: 404 `Template not found`, 404 `Template version not found`, 403 for too many tasks. Repeating an id has no effect. */
export function insertTask(
  db: Database,
  accountId: string,
  id: string,
  values: NewTask,
  nextRunAt: Date | null,
): Promise<Task | AppError> {
  const args = {
    accountId,
    id,
    title: values.title,
    prompt: values.prompt,
    templateId: values.template_id ?? null,
    templateVersion: values.template_version ?? null,
    artistId: values.artist_id ?? null,
    modelId: values.model ?? null,
    schedule: values.schedule,
    timezone: values.timezone,
    nextRunAt: nextRunAt?.toISOString() ?? null,
    maxTasks: MAX_TASKS,
    options: optionsIn(values, taskOptionChanges),
  };
  return call(db, "create_task", args, z.union([found, refused]));
}

export function selectTasks(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<Task>> {
  return call(db, "list_tasks", { accountId, ...pageArguments(page) }, pageOf(storedTask, page));
}

/** Errors: 404 `Task not found`. */
export function selectTaskFirings(
  db: Database,
  accountId: string,
  taskId: string,
  page: PageRequest,
): Promise<Page<TaskFiring> | AppError> {
  const args = { accountId, taskId, ...pageArguments(page) };
  return call(db, "list_task_firings", args, z.union([pageOf(storedFiring, page), refused]));
}

/** Errors: 404 `Task not found`. */
export const selectTask = (db: Database, accountId: string, id: string): Promise<Task | AppError> =>
  call(db, "get_task", { accountId, id }, z.union([found, refused]));

/**
 * Changes a task as it was read. Errors: 404 `Task not found`, 404 `Template not found`, 409 when it has
 * been changed since.
 * @param nextRunAt null disables the task; undefined leaves the time as it is
 */
export function updateTaskFields(
  db: Database,
  accountId: string,
  read: Task,
  changes: TaskChanges,
  nextRunAt: Date | null | undefined,
): Promise<Task | AppError> {
  const args = {
    accountId,
    id: read.id,
    title: changes.title ?? null,
    prompt: changes.prompt ?? null,
    templateId: changes.template_id || null,
    artistId: changes.artist_id || null,
    modelId: changes.model || null,
    schedule: changes.schedule ?? null,
    timezone: changes.timezone ?? null,
    clear: (["template_id", "artist_id", "model"] as const).filter((name) => changes[name] === ""),
    reschedules: nextRunAt !== undefined,
    nextRunAt: nextRunAt?.toISOString() ?? null,
    expectedUpdatedAt: read.updated_at,
    options: optionsIn(changes, taskOptionChanges),
    templateVersion: changes.template_version ?? null,
  };
  return call(db, "update_task", args, z.union([found, refused]));
}

/** Errors: 404 `Task not found`. */
export function removeTask(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  const deleted = z.object({ deleted: z.literal(true) }).transform(() => undefined);
  return call(db, "delete_task", { accountId, id }, z.union([deleted, refused]));
}

const due = z.object({
  now: z.coerce.date(),
  tasks: z.array(
    z.object({ id: z.string(), schedule: z.string(), timezone: z.string(), nextRunAt: z.string() }),
  ),
});

/** @param now the time that counts; null for the database's clock, which all servers share */
export const dueTasks = (
  db: Database,
  now: Date | null,
  limit: number,
): Promise<z.output<typeof due>> => call(db, "due_tasks", { now, limit }, due);

/** Returns whether this call has made the firing of `expected`, and no other server. */
export function fireTask(
  db: Database,
  id: string,
  expected: string,
  next: Date | null,
  now: Date | null,
): Promise<boolean> {
  return call(db, "fire_task", { taskId: id, expected, next, now });
}

export const firing = z.object({
  /** The effect id of the run. */
  id: z.string(),
  accountId: z.string(),
  taskRunId: z.string(),
  /** Whether another service has been given the task. */
  isHandedOver: z.boolean(),
  /** Null until the run has started, like the chat and the session. */
  runId: z.string().nullable(),
  chatId: z.string().nullable(),
  sessionId: z.string().nullable(),
  /** The file `event.json` of an event that was received and whose run has not started; else null. */
  event: z.string().nullable(),
  /** Null when it has been deleted since. */
  task: z
    .object({
      prompt: z.string(),
      templateId: z.string().nullable(),
      /** Null for the newest. */
      templateVersion: z.number().nullable(),
      artistId: z.string().nullable(),
      /** Whether the account still has access to the artist, or there is none. */
      seesArtist: z.boolean(),
      modelId: z.string().nullable(),
      options: taskOptions,
    })
    .nullable(),
});
export type Firing = z.output<typeof firing>;

/** A server that dies while it starts a run leaves the firing to others after this time. */
export const LEASE_SECONDS = 60;

/** Leases waiting firings of all accounts. */
export function takeFirings(db: Database, now: Date | null, limit: number): Promise<Firing[]> {
  return call(db, "take_firings", { now, leaseSeconds: LEASE_SECONDS, limit }, z.array(firing));
}

const taken = z.object({
  status: z.string(),
  finishedAt: z.string().nullable(),
  firing: firing.nullable(),
  job: z.unknown(),
});

/**
 * Returns the state of a task run of any account, and its pending work: a leased firing, or the job of a
 * generation. Null without such a run.
 */
export const takeTaskRun = (
  db: Database,
  taskRunId: string,
): Promise<z.output<typeof taken> | null> =>
  call(db, "take_task_run", { id: taskRunId, leaseSeconds: LEASE_SECONDS }, taken.nullable());

/** A firing whose task another service has been given is started here when it is not asked for by then. */
const START_TIMEOUT_SECONDS = 5 * 60;

/** @param remoteRunId the run of the other service */
export async function transferFiring(
  db: Database,
  id: string,
  now: Date | null,
  remoteRunId: string,
): Promise<void> {
  const args = { id, now, patienceSeconds: START_TIMEOUT_SECONDS, remoteRunId };
  await call(db, "hand_over_firing", args);
}

/** Creates a firing that a request asks for, or finds the one of an earlier attempt. Errors: 404. */
export function fireTaskNow(
  db: Database,
  accountId: string,
  id: string,
  firingId: string,
  idempotencyKey: string | null,
): Promise<Firing | AppError> {
  const args = { accountId, id, firingId, leaseSeconds: LEASE_SECONDS, idempotencyKey };
  const made = z.object({ firing }).transform((answer) => answer.firing);
  return call(db, "fire_task_now", args, z.union([made, refused]));
}

export async function recordStartedRun(
  db: Database,
  id: string,
  run: { readonly runId: string; readonly chatId: string; readonly sessionId: string },
): Promise<void> {
  const { runId, chatId, sessionId } = run;
  await call(db, "record_started_run", { id, runId, chatId, sessionId });
}

/** A refused firing is tried again for so long. */
const MAX_REFUSED_SECONDS = 60 * 60;

/** @param refusal null when this server only hands the firing over */
export async function refuseFiring(
  db: Database,
  id: string,
  now: Date | null,
  retrySeconds: number,
  refusal: string | null,
): Promise<void> {
  const args = { id, now, retrySeconds, maxAgeSeconds: MAX_REFUSED_SECONDS, refusal };
  await call(db, "refuse_firing", args);
}

export async function endFiring(
  db: Database,
  id: string,
  status: "FAILED" | "CANCELED",
  { code, message }: Pick<AppError, "code" | "message">,
): Promise<void> {
  await call(db, "end_firing", { id, status, code, message });
}

/** Takes back a firing whose run has been refused. */
export async function discardFiring(db: Database, id: string): Promise<void> {
  await call(db, "discard_firing", { id });
}
