"use client";
import { CalendarClock } from "lucide-react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { formatDateTime } from "@/app/(console)/_ui/format-time.ts";
import type { listTasksContract } from "@/lib/schedules/contract.ts";
import { Badge } from "../../_ui/badge.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { ArtistList } from "./artist-list.tsx";

type Tasks = z.output<(typeof listTasksContract)["responses"][200]["schema"]>;

export function ArtistSchedules({ id }: { readonly id: string }) {
  // An account has at most 100, so that one page has them all.
  const { data, error, loading, reload } = useQuery<Tasks>("/api/tasks?limit=100");
  const items = data?.tasks.filter((task) => task.artist_id === id);
  return (
    <ArtistList
      label="Schedules"
      pages={{ items, error, loading, hasMore: false, loadMore: reload }}
      idOf={(task) => task.id}
      empty={
        <EmptyState
          icon={CalendarClock}
          title="No schedules yet"
          text="Schedule a prompt for this artist, such as a weekly look at playlists or a monthly royalty check."
        />
      }
    >
      {(task) => (
        <div className="flex items-center gap-3 px-4 py-3">
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{task.title}</span>
            <span className="block truncate text-sm text-muted-foreground">
              {task.next_run_at === null ? (
                "Paused"
              ) : (
                <>
                  Next on{" "}
                  <time dateTime={task.next_run_at}>{formatDateTime(task.next_run_at)}</time>
                </>
              )}
            </span>
          </span>
          <Badge tone={task.enabled ? "success" : "neutral"}>
            {task.enabled ? "Enabled" : "Paused"}
          </Badge>
        </div>
      )}
    </ArtistList>
  );
}
