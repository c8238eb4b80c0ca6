import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { type ContentMedia, mediaIn } from "../../content/content-result.ts";
import { useTaskRun } from "./use-task-run.ts";

/** The media of a run of a list, which has no outputs; undefined while they are asked for. */
export function useTaskRunMedia({ id, updatedAt }: TaskRun): readonly ContentMedia[] | undefined {
  const { run, error } = useTaskRun(id, updatedAt);
  if (run !== undefined) return mediaIn(run);
  return error === null ? undefined : [];
}
