import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { type ContentMedia, mediaIn } from "../../content/content-result.ts";
import { useTaskRun } from "./use-task-run.ts";

/** Returns the media of a run from a list, whose items have no output; undefined while it loads. */
export function useTaskRunMedia({ id, updatedAt }: TaskRun): readonly ContentMedia[] | undefined {
  const { run, error } = useTaskRun(id, updatedAt);
  if (run !== undefined) return mediaIn(run);
  return error === null ? undefined : [];
}
