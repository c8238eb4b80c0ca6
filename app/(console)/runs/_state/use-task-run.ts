import { useEffect, useState } from "react";
import type { z } from "zod";
import type { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { type ApiError, api } from "../../_hooks/api.ts";
import { stateOf } from "./task-run-state.ts";

export type TaskRunList = z.output<(typeof listTaskRunsContract)["responses"][200]["schema"]>;

/** Runs that have ended never change; those that many parts of a page show are asked for once. */
const ended = new Map<string, TaskRun>();
const asked = new Map<string, Promise<TaskRun | ApiError>>();

/**
 * A run with its output and error.
 * @param revision asks again when it changes, such as the `updatedAt` of the run's item in a list
 */
export function useTaskRun(
  id: string,
  revision: string | number,
): { readonly run: TaskRun | undefined; readonly error: ApiError | null } {
  const [answer, setAnswer] = useState<TaskRun | undefined>(() => ended.get(id));
  const [error, setError] = useState<ApiError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision asks again
  useEffect(() => {
    let isGone = false;
    void readTaskRun(id).then((result) => {
      if (isGone) return;
      setError("taskIdentifier" in result ? null : result);
      if ("taskIdentifier" in result) setAnswer(result);
    });
    return () => {
      isGone = true;
    };
  }, [id, revision]);
  return { run: answer?.id === id ? answer : ended.get(id), error };
}

async function readTaskRun(id: string): Promise<TaskRun | ApiError> {
  const known = ended.get(id);
  if (known) return known;
  const pending = asked.get(id) ?? ask(id).finally(() => asked.delete(id));
  asked.set(id, pending);
  return pending;
}

async function ask(id: string): Promise<TaskRun | ApiError> {
  const result = await api<TaskRunList>(`/api/tasks/runs?runId=${encodeURIComponent(id)}`);
  if (!result.ok) return result.error;
  const [run] = result.data.runs;
  if (!run) throw new Error("A look-up of one run gave none");
  if (!stateOf(run.status).isActive) ended.set(id, run);
  return run;
}
