import type { AppError } from "@platform/endpoint/contract/app-error";
import { startJob } from "../content/generation.ts";
import type { Parts } from "../parts.ts";
import { RUN_ID, taskRunNotFound } from "../task-runs/port.ts";
import type { RunParts } from "../turns/start-run.ts";
import { startLeasedFiring } from "./fire-tasks.ts";
import { takeTaskRun } from "./store.ts";

/**
 * Starts the work of a task run of any account, unless it was started before, and returns the state in
 * which the run was found. The caller is the task runner, which polls until the run has ended. Errors:
 * 404 `Task run not found`.
 */
export async function startTaskRun(
  app: RunParts & Parts<"webhookWorker">,
  id: string,
): Promise<{ id: string; status: string; finished_at: string | null } | AppError> {
  const found = RUN_ID.test(id) ? await takeTaskRun(app.db, id) : null;
  if (!found) return taskRunNotFound;
  if (found.firing) await startLeasedFiring(app, found.firing, null);
  if (found.job !== null) await startJob(app, found.job);
  return { id, status: found.status, finished_at: found.finishedAt };
}
