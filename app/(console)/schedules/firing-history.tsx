import { useRouter } from "next/navigation";
import type { TaskFiring } from "@/lib/tasks/task.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { formatDateTime, formatDuration } from "../_ui/format.ts";
import { History } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { Section } from "../_ui/page-header.tsx";
import { StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { runDurationOf } from "../runs/_state/run-state.ts";
import { stateOf } from "../runs/_state/task-run-state.ts";
import { RunStatus } from "../runs/run-status.tsx";

const ACTIVE_POLL_MS = 2_500;
const IDLE_POLL_MS = 15_000;

const isActive = ({ status }: TaskFiring): boolean => stateOf(status).isActive;

export function FiringHistory({ taskId }: { readonly taskId: string }) {
  const runs = usePages<TaskFiring>(`/api/tasks/${taskId}/runs`, "runs", (loaded) =>
    loaded.some(isActive) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  );
  const { items } = runs;
  const now = useClock(items?.some(isActive) ?? false);
  return (
    <Section title="History">
      {items !== undefined && items.length > 1 && <FiringStrip runs={items} now={now} />}
      <PagedList
        label="History"
        pages={runs}
        loadingRows={3}
        empty={
          <EmptyState
            icon={History}
            title="No runs yet"
            text="Runs are listed here, from the first time on. Run it now to try the prompt."
          />
        }
        keyOf={(run) => run.task_run_id}
      >
        {(run) => <Row run={run} now={now} />}
      </PagedList>
    </Section>
  );
}

function Row({ run, now }: { readonly run: TaskFiring; readonly now: number }) {
  const content = (
    <>
      <span className="min-w-0">
        <span className="block truncate">{formatDateTime(run.created_at)}</span>
        <span className="block truncate text-sm text-muted-foreground">
          {run.scheduled_for === null ? "By hand or by an event" : "On schedule"}
          {run.error !== null && <span className="text-danger-text"> · {run.error}</span>}
        </span>
      </span>
      <RunStatus isCompact state={stateOf(run.status)} />
      <span className="text-right text-sm text-muted-foreground tabular-nums max-sm:hidden">
        {formatDuration(durationOf(run, now))}
      </span>
    </>
  );
  const style =
    "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2.5 sm:grid-cols-[minmax(0,1fr)_8rem_6rem]";
  if (run.run_id === null) return <div className={style}>{content}</div>;
  return (
    <Link
      href={`/runs/${run.run_id}`}
      className={`${style} hover:bg-muted/60 focus-visible:-outline-offset-2`}
    >
      {content}
    </Link>
  );
}

const MAX_COUNT = 50;
/** A few bars are not as wide as the page. */
const MIN_SLOTS = 25;

const SERIES = [
  { key: "completed", label: "Completed", color: "text-ring" },
  { key: "failed", label: "Failed", color: "text-danger" },
  { key: "running", label: "Running", color: "text-accent" },
  { key: "other", label: "Cancelled", color: "text-input" },
] as const;

const durationOf = ({ created_at, finished_at }: TaskFiring, now: number): number =>
  runDurationOf({ createdAt: created_at, finishedAt: finished_at }, now);

function seriesOf({ status }: TaskFiring): (typeof SERIES)[number]["key"] {
  const { isActive, tone } = stateOf(status);
  if (isActive) return "running";
  if (tone === "success") return "completed";
  return tone === "danger" || tone === "warning" ? "failed" : "other";
}

/** How long the last runs have taken, and how each has ended. @param runs the newest first */
function FiringStrip({ runs, now }: Readonly<{ runs: readonly TaskFiring[]; now: number }>) {
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
