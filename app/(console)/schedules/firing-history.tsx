"use client";
import { History } from "lucide-react";
import Link from "next/link";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { formatDateTime, formatDuration } from "@/app/(console)/_ui/format-time.ts";
import { stateOf } from "@/app/(console)/runs/_state/task-run-state.ts";
import type { TaskFiring } from "@/lib/schedules/task.ts";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { LoadMore } from "../_ui/load-more.tsx";
import { ListSkeleton } from "../_ui/skeleton.tsx";
import { RunStatus } from "../runs/run-status.tsx";
import { durationOf, FiringStrip } from "./firing-strip.tsx";

const ACTIVE_POLL_MS = 2_500;
const IDLE_POLL_MS = 15_000;

const isActive = ({ status }: TaskFiring): boolean => stateOf(status).isActive;

/** The runs of a schedule, newest first. */
export function FiringHistory({ taskId }: { readonly taskId: string }) {
  const runs = usePages<TaskFiring>(`/api/tasks/${taskId}/runs`, "runs", (loaded) =>
    loaded.some(isActive) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  );
  const { items, error, refresh } = runs;
  const now = useClock(items?.some(isActive) ?? false);
  return (
    <section aria-label="History">
      <h2 className="mb-2 text-sm font-medium text-muted-foreground">History</h2>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={refresh} />
        </div>
      )}
      {items === undefined ? (
        error === null && <ListSkeleton label="Loading the history…" rows={3} />
      ) : items.length === 0 ? (
        <EmptyState
          icon={History}
          title="No runs yet"
          text="Runs are listed here, from the first time on. Run it now to try the prompt."
        />
      ) : (
        <>
          {items.length > 1 && <FiringStrip runs={items} now={now} />}
          <ul className="divide-y overflow-hidden rounded-xl border bg-surface">
            {items.map((run) => (
              <li key={run.task_run_id}>
                <Row run={run} now={now} />
              </li>
            ))}
          </ul>
        </>
      )}
      <LoadMore pages={runs} />
    </section>
  );
}

function Row({ run, now }: { readonly run: TaskFiring; readonly now: number }) {
  const content = (
    <>
      <span className="min-w-0">
        <span className="block truncate">{formatDateTime(run.created_at)}</span>
        <span className="block truncate text-sm text-muted-foreground">
          {run.scheduled_for === null ? "Started by hand" : "On schedule"}
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
      prefetch={false}
      className={`${style} hover:bg-muted/60 focus-visible:-outline-offset-2`}
    >
      {content}
    </Link>
  );
}
