/** The labels of the task runner's statuses. */

import { keepPreviousData, useQuery as useStored } from "@tanstack/react-query";
import type { listTaskRunsContract } from "@/lib/task-runs/contract.ts";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { type Answer, read } from "../../_api/request.ts";
import { keyOf, type Poll, pollOption, useQuery } from "../../_hooks/use-query.ts";
import { useScope } from "../../_session/scope.ts";
import { type ContentMedia, isContentRun, mediaIn } from "../../content/content-result.ts";

export type RunTone = "neutral" | "accent" | "success" | "warning" | "danger";

export interface RunState {
  readonly label: string;
  readonly tone: RunTone;
  /** True while the status can still change. */
  readonly isActive: boolean;
}

const active = (label: string, tone: RunTone): RunState => ({ label, tone, isActive: true });
const ended = (label: string, tone: RunTone): RunState => ({ label, tone, isActive: false });

const states: Readonly<Record<string, RunState>> = {
  PENDING_VERSION: active("Waiting for version", "neutral"),
  PENDING: active("Pending", "neutral"),
  DELAYED: active("Delayed", "neutral"),
  QUEUED: active("Queued", "neutral"),
  DEQUEUED: active("Starting", "accent"),
  EXECUTING: active("Running", "accent"),
  REATTEMPTING: active("Retrying", "warning"),
  WAITING: active("Waiting", "neutral"),
  FROZEN: active("Waiting", "neutral"),
  COMPLETED: ended("Completed", "success"),
  CANCELED: ended("Cancelled", "neutral"),
  FAILED: ended("Failed", "danger"),
  CRASHED: ended("Crashed", "danger"),
  INTERRUPTED: ended("Interrupted", "danger"),
  SYSTEM_FAILURE: ended("System failure", "danger"),
  EXPIRED: ended("Expired", "warning"),
  TIMED_OUT: ended("Timed out", "danger"),
};

/** An unknown status is shown unchanged and counts as final. */
export const stateOf = (status: string): RunState => states[status] ?? ended(status, "neutral");

/** Returns `Generate video` for `generate-video`. */
export function nameOf(taskIdentifier: string): string {
  const words = taskIdentifier.replace(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the prompt, title or template of a run: the first of these that it has. */
export function summaryOf({ payload }: TaskRun): string | null {
  const { prompt, title, template } = Object(payload);
  const texts: unknown[] = [prompt, title, template];
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? null;
}

/** Returns the duration of an ended run or the time since an active one started, in milliseconds. */
export function spanOf(run: TaskRun, now: number): number | null {
  if (run.startedAt === undefined) return null;
  if (stateOf(run.status).isActive) return Math.max(0, now - Date.parse(run.startedAt));
  if (run.durationMs !== undefined && run.durationMs > 0) return run.durationMs;
  if (run.finishedAt === undefined) return null;
  return Date.parse(run.finishedAt) - Date.parse(run.startedAt);
}

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
