"use client";
import { ListChecks } from "lucide-react";
import Link from "next/link";
import { usePages } from "../../_hooks/use-pages.ts";
import { formatDuration, formatUsd } from "../../_ui/format.ts";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../../_ui/states.tsx";
import { RUN_KIND_LABELS, type RunItem, runStateOf } from "../../runs/_state/run-state.ts";
import { RunStatus } from "../../runs/run-status.tsx";

export function ArtistRuns({ id }: { readonly id: string }) {
  const runs = usePages<RunItem>(`/api/chat/runs?artist_id=${id}`, "runs");
  return (
    <PagedList
      label="Runs"
      pages={runs}
      keyOf={(run) => run.runId}
      empty={
        <EmptyState
          icon={ListChecks}
          title="No runs yet"
          text="Each message to the agent about this artist is a run, and so is each scheduled prompt."
        />
      }
    >
      {(run) => (
        <Link
          href={`/chat/${run.sessionId}/${run.chatId}`}
          prefetch={false}
          className="flex items-center gap-3 px-4 py-3 hover:bg-muted"
        >
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{run.title || "New chat"}</span>
            <span className="block truncate text-sm text-muted-foreground">
              {RUN_KIND_LABELS[run.kind]}
              {run.duration_ms !== null && ` · ${formatDuration(run.duration_ms)}`}
              {run.cost_usd !== null && run.cost_usd > 0 && ` · ${formatUsd(run.cost_usd)}`}
            </span>
          </span>
          <RunStatus isCompact state={runStateOf(run)} />
          <RelativeTime
            date={run.createdAt}
            className="hidden w-24 shrink-0 text-right text-sm text-muted-foreground sm:block"
          />
        </Link>
      )}
    </PagedList>
  );
}
