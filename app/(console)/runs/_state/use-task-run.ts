import { keepPreviousData, useQuery as useStored } from "@tanstack/react-query";
import type { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { type Answer, read } from "../../_api/request.ts";
import { keyOf, type Poll, pollOption, useQuery } from "../../_hooks/use-query.ts";
import { useScope } from "../../_session/scope.ts";
import { type ContentMedia, isContentRun, mediaIn } from "../../content/content-result.ts";
import { stateOf } from "./task-run-state.ts";

export type TaskRunList = Answer<typeof listTaskRunsContract>;

/** Reads the newest images and videos among the runs, for the artist of the switcher. */
export function useContentRuns(poll: Poll<TaskRunList> = false) {
  const { artist } = useScope();
  const ofArtist = artist === null ? "" : `&artist_id=${artist.id}`;
  const list = useQuery<TaskRunList>(`/api/tasks/runs?limit=100${ofArtist}`, poll);
  return { list, runs: list.data?.runs.filter(isContentRun) };
}

/** Returns true unless the run is known to have ended: an ended run never changes. */
const isOpen = (data: TaskRunList | undefined): boolean =>
  data?.runs.every(({ status }) => stateOf(status).isActive) ?? true;

/**
 * Returns a run with its output and error.
 * @param pollMs how often a run that has not ended is read again; without it, only for another `revision`
 * @param revision such as the `updatedAt` of its list item
 */
export function useTaskRun(id: string, revision = "", pollMs: number | false = false) {
  const path = `/api/tasks/runs?runId=${encodeURIComponent(id)}`;
  const { data, error, refetch } = useStored({
    queryKey: [...keyOf(path), revision],
    queryFn: ({ signal }) => read<TaskRunList>(path, signal),
    staleTime: ({ state }) => (isOpen(state.data) ? 0 : Number.POSITIVE_INFINITY),
    placeholderData: keepPreviousData,
    ...pollOption<TaskRunList>((now) => isOpen(now) && pollMs),
  });
  return { run: data?.runs.find((run) => run.id === id), error, reload: () => void refetch() };
}

/** Returns the media of a run from a list, whose items have no output; undefined while it loads. */
export function useTaskRunMedia({ id, updatedAt }: TaskRun): readonly ContentMedia[] | undefined {
  const { run, error } = useTaskRun(id, updatedAt);
  if (run !== undefined) return mediaIn(run);
  return error === null ? undefined : [];
}
