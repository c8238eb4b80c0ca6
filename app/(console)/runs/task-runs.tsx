"use client";
import { Clapperboard, ListChecks, RefreshCw } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { describeSpan } from "@/app/(console)/_hooks/describe-time.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { usePoll } from "@/app/(console)/_hooks/use-poll.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import {
  nameOf,
  type RunState,
  spanOf,
  stateOf,
  summaryOf,
} from "@/app/(console)/runs/_state/task-run-state.ts";
import type { TaskRunList } from "@/app/(console)/runs/_state/use-task-run.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { RunBadge } from "./run-badge.tsx";

const SOME = 25;
/** Specification: GET /api/tasks/runs, maximum of `limit`. */
const MOST = 100;

const filters = [
  { value: "all", label: "All" },
  { value: "active", label: "Running" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
] as const;
type Filter = (typeof filters)[number]["value"];

function passes(filter: Filter, { isActive, tone }: RunState): boolean {
  switch (filter) {
    case "all":
      return true;
    case "active":
      return isActive;
    case "completed":
      return tone === "success";
    case "failed":
      return !isActive && tone !== "success";
  }
}

/** The account's task runs, kept up to date while one of them goes on. */
export function TaskRuns({ onOpen }: { readonly onOpen: (runId: string) => void }) {
  const [limit, setLimit] = useState(SOME);
  const [filter, setFilter] = useState<Filter>("all");
  const { data, error, loading, reload } = useQuery<TaskRunList>(`/api/tasks/runs?limit=${limit}`);
  const [latest, setLatest] = useState(data);
  // While more are asked for, those that are there stay.
  if (data !== undefined && data !== latest) setLatest(data);
  const runs = latest?.runs;
  const isLive = runs?.some(({ status }) => stateOf(status).isActive) ?? false;
  usePoll(reload, isLive && !loading);
  const now = useClock(isLive);

  if (runs === undefined) {
    return error === null ? <RowSkeletons /> : <ErrorState error={error} onRetry={reload} />;
  }
  const shown = runs.filter(({ status }) => passes(filter, stateOf(status)));
  return (
    <>
      <div className="mb-3 flex items-center justify-between gap-2">
        <Segmented label="State" hideLabel options={filters} value={filter} onChange={setFilter} />
        <Button
          variant="ghost"
          size="icon"
          aria-label="Load again"
          title="Load again"
          onClick={reload}
        >
          <RefreshCw aria-hidden />
        </Button>
      </div>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={reload} />
        </div>
      )}
      {runs.length === 0 ? (
        <EmptyState
          icon={ListChecks}
          title="No task has run yet"
          text="Videos and images are made by task runs. Make one and watch it here."
        >
          <Link href="/content" prefetch={false} className={buttonStyle()}>
            <Clapperboard aria-hidden />
            Make something
          </Link>
        </EmptyState>
      ) : shown.length === 0 ? (
        <EmptyState
          icon={ListChecks}
          title="None of the loaded runs is in this state"
          text="Look at all of them, or wait."
        >
          <Button variant="outline" onClick={() => setFilter("all")}>
            Show all
          </Button>
        </EmptyState>
      ) : (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface">
          {shown.map((run) => (
            <li key={run.id}>
              <Row run={run} now={now} onOpen={() => onOpen(run.id)} />
            </li>
          ))}
        </ul>
      )}
      {runs.length >= limit && (
        <div className="mt-6 text-center">
          {limit < MOST ? (
            <Button variant="outline" busy={loading} onClick={() => setLimit(MOST)}>
              Load more
            </Button>
          ) : (
            <p className="text-sm text-muted-foreground">These are the newest {MOST}.</p>
          )}
        </div>
      )}
    </>
  );
}

function Row({
  run,
  now,
  onOpen,
}: {
  readonly run: TaskRun;
  readonly now: number;
  readonly onOpen: () => void;
}) {
  const span = spanOf(run, now);
  return (
    <button
      type="button"
      onClick={onOpen}
      className="grid w-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2.5 text-left hover:bg-muted/60 focus-visible:-outline-offset-2 sm:grid-cols-[minmax(0,1fr)_9.5rem_5.5rem_6rem]"
    >
      <span className="min-w-0">
        <span className="block truncate font-medium">{nameOf(run.taskIdentifier)}</span>
        <span className="block truncate text-sm text-muted-foreground">
          {summaryOf(run) ?? <code className="font-mono text-xs">{run.id}</code>}
        </span>
      </span>
      <span className="justify-self-end sm:justify-self-start">
        <RunBadge state={stateOf(run.status)} />
      </span>
      <span className="hidden text-right text-sm text-muted-foreground tabular-nums sm:block">
        {span === null ? "" : describeSpan(span)}
      </span>
      <RelativeTime
        date={run.createdAt}
        className="hidden text-right text-sm whitespace-nowrap text-muted-foreground sm:block"
      />
    </button>
  );
}

function RowSkeletons() {
  return (
    <div aria-busy="true">
      <p className="sr-only">Loading the runs</p>
      <Skeleton className="mb-3 h-8 w-80 max-w-full" />
      <Skeleton className="h-96 rounded-xl" />
    </div>
  );
}
