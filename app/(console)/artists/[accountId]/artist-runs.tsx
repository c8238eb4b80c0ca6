"use client";
import { ListChecks } from "lucide-react";
import Link from "next/link";
import type { z } from "zod";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { formatDuration } from "@/app/(console)/_ui/format-time.ts";
import type { runItem } from "@/lib/turns/run-contract.ts";
import { Badge } from "../../_ui/badge.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { ArtistList, lineStyle } from "./artist-list.tsx";

type RunItem = z.output<typeof runItem>;

const states = {
  queued: ["Queued", "neutral"],
  running: ["Running", "accent"],
  completed: ["Completed", "success"],
  failed: ["Failed", "danger"],
  cancelled: ["Cancelled", "neutral"],
} as const satisfies Record<RunItem["status"], readonly [string, string]>;

const kinds = { chat: "Chat", headless: "Agent run", task: "Scheduled" } as const;

const idOf = (run: RunItem): string => run.runId;

export function ArtistRuns({ id }: { readonly id: string }) {
  const runs = usePages<RunItem>(`/api/chat/runs?artist_id=${id}`, "runs", idOf);
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
              {kinds[run.kind]}
              {run.duration_ms !== null && ` · ${formatDuration(run.duration_ms)}`}
              {run.cost_usd !== null && run.cost_usd > 0 && ` · $${run.cost_usd.toFixed(4)}`}
            </span>
          </span>
          <Badge tone={states[run.status][1]}>{states[run.status][0]}</Badge>
          <RelativeTime
            date={run.createdAt}
            className="hidden w-24 shrink-0 text-right text-sm text-muted-foreground sm:block"
          />
        </Link>
      )}
    </ArtistList>
  );
}
