"use client";
import { useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { withQuery } from "../_api/with-query.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button, ButtonLink, IconButton } from "../_ui/button.tsx";
import { Segmented } from "../_ui/form.tsx";
import { formatDuration } from "../_ui/format.ts";
import { Clapperboard, ListChecks, Plus, RefreshCw } from "../_ui/icons.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import type { TaskRunList } from "./_state/task-run-state.ts";
import { nameOf, type RunState, spanOf, stateOf, summaryOf } from "./_state/task-run-state.ts";
import { AgentRuns } from "./agent-runs.tsx";
import { RunStatus } from "./run-status.tsx";
import { Waiting } from "./waiting.tsx";

const StartRunDialog = lazyComponent(() => import("./start-run-dialog.tsx"), "StartRunDialog");
const TaskRunPanel = lazyComponent(() => import("./task-run-panel.tsx"), "TaskRunPanel");

/** The page of runs. The tab, the filters and the open task run are in the address, to be linked to. */
export function RunsPage() {
  const query = useSearchParams();
  const router = useRouter();
  const [isStarting, setIsStarting] = useState(false);
  const taskRunId = query.get("runId");
  const asked = query.get("tab");
  const tab = asked === "tasks" || taskRunId !== null ? "tasks" : (asked ?? "agent");
  // `pushState` avoids a request, because the page stays the same.
  const show = (next: Readonly<Record<string, string>>) =>
    history.pushState(null, "", withQuery("/runs", next));
  return (
    <Page>
      <PageHeader
        title="Runs"
        description="Everything the agent works on: chats, background runs and schedules, as it happens."
      >
        <Button icon={Plus} onClick={() => setIsStarting(true)}>
          Start agent run
        </Button>
      </PageHeader>
      <Tabs value={tab} onValueChange={(next) => show({ tab: next === "agent" ? "" : next })}>
        <TabsList aria-label="Run type">
          <TabsTrigger value="agent">Runs</TabsTrigger>
          <TabsTrigger value="tasks">Background tasks</TabsTrigger>
          <TabsTrigger value="waiting">Waiting</TabsTrigger>
        </TabsList>
        <TabsContent value="agent">
          <AgentRuns onStart={() => setIsStarting(true)} />
        </TabsContent>
        <TabsContent value="tasks">
          <TaskRuns onOpen={(id) => show({ tab: "tasks", runId: id })} />
        </TabsContent>
        <TabsContent value="waiting">
          <Waiting />
        </TabsContent>
      </Tabs>
      {taskRunId !== null && (
        <TaskRunPanel key={taskRunId} runId={taskRunId} onClose={() => show({ tab: "tasks" })} />
      )}
      {isStarting && (
        <StartRunDialog
          onClose={() => setIsStarting(false)}
          onStarted={(runId) => router.push(`/runs/${runId}`)}
        />
      )}
    </Page>
  );
}

const INITIAL_LIMIT = 25;
/** The maximum of `limit` in `GET /api/tasks/runs`. */
const MAX_LIMIT = 100;

const filters = [
  { value: "all", label: "All", passes: () => true },
  { value: "active", label: "Running", passes: ({ isActive }: RunState) => isActive },
  { value: "completed", label: "Completed", passes: ({ tone }: RunState) => tone === "success" },
  {
    ...{ value: "failed", label: "Failed" },
    passes: ({ isActive, tone }: RunState) => !isActive && tone !== "success",
  },
] as const;

const isLiveRun = ({ status }: TaskRun): boolean => stateOf(status).isActive;

/** The account's task runs, polled while one of them is active. */
function TaskRuns({ onOpen }: { readonly onOpen: (runId: string) => void }) {
  const [limit, setLimit] = useState(INITIAL_LIMIT);
  const [filter, setFilter] = useState<(typeof filters)[number]["value"]>("all");
  const path = `/api/tasks/runs?limit=${limit}`;
  const { data, error, loading, reload } = useQuery<TaskRunList>(
    path,
    (list) => list?.runs.some(isLiveRun) === true && 2_500,
  );
  const [latest, setLatest] = useState(data);
  // The current runs stay visible while more are loaded.
  if (data !== undefined && data !== latest) setLatest(data);
  const runs = latest?.runs;
  const now = useClock(runs?.some(isLiveRun) ?? false);

  const { passes } = filters.find(({ value }) => value === filter) ?? filters[0];
  const shown = runs?.filter(({ status }) => passes(stateOf(status)));
  const hasMore = runs !== undefined && runs.length >= limit;
  return (
    <>
      <div className="mb-3 flex items-center justify-between gap-2">
        <Segmented label="Status" hideLabel options={filters} value={filter} onChange={setFilter} />
        <IconButton icon={RefreshCw} isLarge label="Refresh" onClick={reload} />
      </div>
      <PagedList
        label="Background tasks"
        pages={{
          ...{ items: shown, error, loading, hasMore: hasMore && limit < MAX_LIMIT },
          loadMore: error === null ? () => setLimit(MAX_LIMIT) : reload,
        }}
        loadingRows={6}
        empty={
          <EmptyState
            icon={ListChecks}
            title={runs?.length === 0 ? "No task runs yet" : "No matching runs"}
            text={
              runs?.length === 0
                ? "Images and videos are generated by task runs. Generate one to see it here."
                : "None of the loaded runs has this status."
            }
          >
            {runs?.length === 0 ? (
              <ButtonLink icon={Clapperboard} href="/content">
                Create content
              </ButtonLink>
            ) : (
              <Button variant="outline" onClick={() => setFilter("all")}>
                Show all
              </Button>
            )}
          </EmptyState>
        }
        keyOf={({ id }) => id}
      >
        {(run) => <Row run={run} now={now} onOpen={() => onOpen(run.id)} />}
      </PagedList>
      {hasMore && limit === MAX_LIMIT && (
        <p className="mt-6 text-center text-sm text-muted-foreground">
          The newest {MAX_LIMIT} runs are shown.
        </p>
      )}
    </>
  );
}

function Row({ run, now, onOpen }: Readonly<{ run: TaskRun; now: number; onOpen: () => void }>) {
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
        <RunStatus isCompact state={stateOf(run.status)} />
      </span>
      <span className="hidden text-right text-sm text-muted-foreground tabular-nums sm:block">
        {span === null ? "" : formatDuration(span)}
      </span>
      <RelativeTime
        date={run.createdAt}
        className="hidden text-right text-sm whitespace-nowrap text-muted-foreground sm:block"
      />
    </button>
  );
}
