"use client";
import { History } from "lucide-react";
import Link from "next/link";
import type { TaskFiring } from "@/lib/schedules/task.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { formatDateTime, formatDuration } from "../_ui/format.ts";
import { Section } from "../_ui/page-header.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { stateOf } from "../runs/_state/task-run-state.ts";
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
