/** The labels of task run statuses, which are those of the task runner. */
import type { TaskRun } from "@/lib/tasks/task-run.ts";

export type RunTone = "neutral" | "accent" | "success" | "warning" | "danger";

export interface RunState {
  readonly label: string;
  readonly tone: RunTone;
  /** True while the status can still change. */
  readonly isActive: boolean;
}

const state = (label: string, tone: RunTone, isActive = false): RunState => ({
  label,
  tone,
  isActive,
});

const states: Readonly<Record<string, RunState>> = {
  PENDING_VERSION: state("Waiting for version", "neutral", true),
  PENDING: state("Pending", "neutral", true),
  DELAYED: state("Delayed", "neutral", true),
  QUEUED: state("Queued", "neutral", true),
  DEQUEUED: state("Starting", "accent", true),
  EXECUTING: state("Running", "accent", true),
  REATTEMPTING: state("Retrying", "warning", true),
  WAITING: state("Waiting", "neutral", true),
  FROZEN: state("Waiting", "neutral", true),
  COMPLETED: state("Completed", "success"),
  CANCELED: state("Cancelled", "neutral"),
  FAILED: state("Failed", "danger"),
  CRASHED: state("Crashed", "danger"),
  INTERRUPTED: state("Interrupted", "danger"),
  SYSTEM_FAILURE: state("System failure", "danger"),
  EXPIRED: state("Expired", "warning"),
  TIMED_OUT: state("Timed out", "danger"),
};

/** An unknown status is shown unchanged and counts as final. */
export const stateOf = (status: string): RunState => states[status] ?? state(status, "neutral");

/** Returns `Generate video` for `generate-video`. */
export function nameOf(taskIdentifier: string): string {
  const words = taskIdentifier.replace(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the prompt, title or template of a run, whichever it has first. */
export function summaryOf({ payload }: TaskRun): string | null {
  if (typeof payload !== "object" || payload === null) return null;
  const fields = new Map(Object.entries(payload));
  const texts = ["prompt", "title", "template"].map((name) => fields.get(name));
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
