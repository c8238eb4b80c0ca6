"use client";
import { useRouter } from "next/navigation";
import type { TaskFiring } from "@/lib/schedules/task.ts";
import { formatDateTime, formatDuration } from "../_ui/format.ts";
import { StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { stateOf } from "../runs/_state/task-run-state.ts";

const MAX_COUNT = 50;
/** A few bars are not as wide as the page. */
const MIN_SLOTS = 25;

const SERIES = [
  { key: "completed", label: "Completed", color: "text-ring" },
  { key: "failed", label: "Failed", color: "text-danger" },
  { key: "running", label: "Running", color: "text-accent" },
  { key: "other", label: "Cancelled", color: "text-input" },
] as const;

/** Returns how long a run has taken, or has worked so far, in milliseconds. */
export const durationOf = (run: TaskFiring, now: number): number =>
  Math.max(
    0,
    (run.finished_at === null ? now : Date.parse(run.finished_at)) - Date.parse(run.created_at),
  );

function seriesOf({ status }: TaskFiring): (typeof SERIES)[number]["key"] {
  const { isActive, tone } = stateOf(status);
  if (isActive) return "running";
  if (tone === "success") return "completed";
  return tone === "danger" || tone === "warning" ? "failed" : "other";
}

/** How long the last runs have taken, and how each has ended. @param runs the newest first */
export function FiringStrip({
  runs,
  now,
}: {
  readonly runs: readonly TaskFiring[];
  readonly now: number;
}) {
  const router = useRouter();
  const last = runs.slice(0, MAX_COUNT);
  const bars = last.toReversed().map((run) => ({
    key: run.task_run_id,
    label: formatDateTime(run.created_at),
    // A run that has just started is to be seen, too.
    amounts: SERIES.map(({ key }) =>
      key === seriesOf(run) ? Math.max(1, durationOf(run, now)) : 0,
    ),
  }));
  const counts = SERIES.map(({ key, label }) => ({
    text: label.toLowerCase(),
    count: last.filter((run) => seriesOf(run) === key).length,
  })).filter(({ count }) => count > 0);
  const average = sumOf(bars.map(({ amounts }) => sumOf(amounts))) / bars.length;
  const summary = `Last ${last.length} runs: ${counts
    .map(({ text, count }) => `${count} ${text}`)
    .join(", ")}; ${formatDuration(average)} on average`;
  const open = (id: string) => {
    const runId = last.find(({ task_run_id }) => task_run_id === id)?.run_id;
    if (runId) router.push(`/runs/${runId}`);
  };
  return (
    <div className="mb-3 rounded-xl border bg-surface px-4 pt-3 pb-2.5">
      <p aria-hidden className="mb-3 text-sm text-muted-foreground">
        {summary}
      </p>
      <StackedBars
        summary={summary}
        series={SERIES}
        bars={bars}
        format={formatDuration}
        height={56}
        slots={Math.max(MIN_SLOTS, bars.length)}
        hasLegend={false}
        onChoose={({ key }) => open(key)}
      />
    </div>
  );
}
