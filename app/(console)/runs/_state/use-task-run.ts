import { useEffect, useState } from "react";
import type { z } from "zod";
import type { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { type ApiError, api } from "../../_api/request.ts";
import { stateOf } from "./task-run-state.ts";

export type TaskRunList = z.output<(typeof listTaskRunsContract)["responses"][200]["schema"]>;

/** Ended runs never change, so that each is loaded once. */
const endedRuns = new Map<string, TaskRun>();
const pendingRequests = new Map<string, Promise<TaskRun | ApiError>>();

/**
 * Returns a run with its output and error.
 * @param revision loads the run again when it changes, such as the `updatedAt` of its list item
 */
export function useTaskRun(
  id: string,
  revision: string | number,
): { readonly run: TaskRun | undefined; readonly error: ApiError | null } {
  const [answer, setAnswer] = useState<TaskRun | undefined>(() => endedRuns.get(id));
  const [error, setError] = useState<ApiError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision loads the run again
  useEffect(() => {
    let isUnmounted = false;
    void readTaskRun(id).then((result) => {
      if (isUnmounted) return;
      setError("taskIdentifier" in result ? null : result);
      if ("taskIdentifier" in result) setAnswer(result);
    });
    return () => {
      isUnmounted = true;
    };
  }, [id, revision]);
  return { run: answer?.id === id ? answer : endedRuns.get(id), error };
}

async function readTaskRun(id: string): Promise<TaskRun | ApiError> {
  const known = endedRuns.get(id);
  if (known) return known;
  const pending =
    pendingRequests.get(id) ?? requestRun(id).finally(() => pendingRequests.delete(id));
  pendingRequests.set(id, pending);
  return pending;
}

async function requestRun(id: string): Promise<TaskRun | ApiError> {
  const result = await api<TaskRunList>(`/api/tasks/runs?runId=${encodeURIComponent(id)}`);
  if (!result.ok) return result.error;
  const [run] = result.data.runs;
  if (!run) throw new Error("The response contains no run");
  if (!stateOf(run.status).isActive) endedRuns.set(id, run);
  return run;
}
