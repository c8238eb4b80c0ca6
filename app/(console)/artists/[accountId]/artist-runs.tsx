"use client";
import { ListChecks } from "lucide-react";
import Link from "next/link";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { formatUsd } from "@/app/(console)/_ui/format-number.ts";
import { formatDuration } from "@/app/(console)/_ui/format-time.ts";
import {
  RUN_KIND_LABELS,
  type RunItem,
  runStateOf,
} from "@/app/(console)/runs/_state/run-state.ts";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { RunStatus } from "../../runs/run-status.tsx";
import { ArtistList, lineStyle } from "./artist-list.tsx";

const idOf = (run: RunItem): string => run.runId;

export function ArtistRuns({ id }: { readonly id: string }) {
  const runs = usePages<RunItem>(`/api/chat/runs?artist_id=${id}`, "runs");
  return (
    <ArtistList
      label="Runs"
      pages={runs}
      idOf={idOf}
      empty={
        <EmptyState
          icon={ListChecks}
          title="No runs yet"
          text="Each message to the agent about this artist is a run, and so is each scheduled prompt."
        />
      }
    >
      {(run) => (
        <Link href={`/chat/${run.sessionId}/${run.chatId}`} prefetch={false} className={lineStyle}>
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
    </ArtistList>
  );
}
