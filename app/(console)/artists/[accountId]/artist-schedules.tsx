"use client";
import { CalendarClock } from "lucide-react";
import type { listTasksContract } from "@/lib/schedules/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { Badge } from "../../_ui/badge.tsx";
import { formatDateTime } from "../../_ui/format.ts";
import { EmptyState, PagedList } from "../../_ui/states.tsx";

export function ArtistSchedules({ id }: { readonly id: string }) {
  // An account has at most 100, so that one page has them all.
  const { data, error, loading, reload } =
    useQuery<Answer<typeof listTasksContract>>("/api/tasks?limit=100");
  const items = data?.tasks.filter((task) => task.artist_id === id);
  return (
    <PagedList
      label="Schedules"
      pages={{ items, error, loading, hasMore: false, loadMore: reload }}
      keyOf={(task) => task.id}
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
    </PagedList>
  );
}
