/** What the service asks of a task runner: a port with two adapters. Decisions, section 8. */
import type { Logger } from "pino";
import { type AppError, appError } from "../contract/app-error.ts";
import type { AccountQuery, Reader } from "../platform/database/account-query.ts";
import type { TaskRun } from "./task-run.ts";

/** A run belongs to the accounts of its `account:<uuid>` tags; no other is ever returned. */
export interface TaskRunner {
  readonly name: "trigger" | "embedded";
  /** What `list` will read in the database; null when it asks a service alone. */
  listQuery(limit: number): AccountQuery<TaskRun[]> | null;
  /**
   * Newest first, at most `limit`, without `output` and `error`. Errors: 502, 504.
   * @param read reads the account's own rows
   */
  list(accountId: string, limit: number, log: Logger, read: Reader): Promise<TaskRun[] | AppError>;
  /** Errors: 404 `Task run not found`, for a foreign run too; 502, 504. */
  find(accountId: string, runId: string, log: Logger): Promise<TaskRun | AppError>;
}

export const taskRunNotFound = appError("not_found", "Task run not found");

/** What a run's id looks like, embedded as at Trigger.dev: anything else is the id of no run. */
export const RUN_ID = /^run_[A-Za-z0-9]+$/;

/** The tag that makes a run an account's. */
export const accountTag = (accountId: string): string => `account:${accountId}`;
