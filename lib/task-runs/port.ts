/** The port that every task runner implements. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { Checkable } from "@platform/kit/outbound/probe";
import type { Logger } from "pino";
import type { TaskRun } from "./task-run.ts";

/** A run belongs to the accounts of its `account:<uuid>` tags, and only they can read it. */
export interface TaskRunner extends Checkable {
  readonly name: "trigger" | "embedded";
  /** Returns at most `limit` runs, newest first, without `output` and `error`. Errors: 502, 504. */
  list(page: RunPage, log: Logger): Promise<TaskRun[] | AppError>;
  /** Errors: 404 `Task run not found`, also for a run of another account; 502, 504. */
  find(accountId: string, runId: string, log: Logger): Promise<TaskRun | AppError>;
  /**
   * Has the service run a task, which calls `POST /api/cron/task-runs/{id}` until its task run has ended.
   * It can be repeated: one task run is started once. Returns the id that the service gives the run.
   * Absent where tasks run on the durable engine alone. Errors: 502, 504.
   */
  start?(task: RemoteTask, log: Logger): Promise<string | AppError>;
}

export interface RunPage {
  readonly accountId: string;
  readonly limit: number;
  /** Only runs that carry the tag of this artist; undefined for all. */
  readonly artistId?: string | undefined;
}

/** All that leaves this service is here: ids, and neither content nor credentials. */
interface RemoteTask {
  readonly accountId: string;
  readonly taskIdentifier: "scheduled-prompt" | "generate-image" | "generate-video";
  readonly taskRunId: string;
}

export const taskRunNotFound = appError("not_found", "Task run not found");

/** The format of run ids, embedded and at Trigger.dev: no run has an id of another format. */
export const RUN_ID = /^run_[A-Za-z0-9]+$/;

/** Returns the tag that makes a run belong to the account. */
export const accountTag = (accountId: string): string => `account:${accountId}`;

/** Returns the tag of runs for an artist. */
export const artistTag = (artistId: string): string => `artist:${artistId}`;
