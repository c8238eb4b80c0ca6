import { useRouter } from "next/navigation";
import type { Artist } from "@/lib/artists/artist.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import type { listTasksContract } from "@/lib/tasks/contract.ts";
import type { getUsageContract } from "@/lib/usage/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { chooseArtist } from "../../_session/scope.ts";
import { Badge } from "../../_ui/badge.tsx";
import { Button } from "../../_ui/button.tsx";
import { Figures } from "../../_ui/facts.tsx";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDateTime,
  formatDuration,
  formatUsd,
} from "../../_ui/format.ts";
import { CalendarClock, ListChecks, MessageSquare, MessageSquarePlus } from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { EmptyState, PagedList, Skeleton } from "../../_ui/states.tsx";
import { RUN_KIND_LABELS, type RunItem, runStateOf } from "../../runs/_state/run-state.ts";
import { RunStatus } from "../../runs/run-status.tsx";

export function ArtistChats({ artist }: { readonly artist: Artist }) {
  const chats = usePages<Chat>(`/api/chats?artist_id=${artist.account_id}`, "chats");
  return (
    <PagedList
      label="Chats"
      pages={chats}
      keyOf={(chat) => chat.id}
      empty={
        <EmptyState
          icon={MessageSquare}
          title="No chats yet"
          text="A chat about an artist appears here, with the files that its agent makes."
        >
          <NewChatButton artist={artist} />
        </EmptyState>
      }
    >
      {({ id, sessionId, title, lastAssistantMessageAt, createdAt }) => (
        <Link
          href={`/chat/${sessionId}/${id}`}
          className="flex items-center gap-3 px-4 py-3 hover:bg-muted"
        >
          <span className="min-w-0 flex-1 truncate font-medium">{title || "New chat"}</span>
          <RelativeTime
            date={lastAssistantMessageAt ?? createdAt}
            className="shrink-0 text-sm text-muted-foreground"
          />
        </Link>
      )}
    </PagedList>
  );
}

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

export function ArtistSchedules({ id }: { readonly id: string }) {
  // An account has at most 100, which fit on one page.
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

/** Selects the artist, so the new chat and later ones belong to it. */
export function NewChatButton({ artist }: { readonly artist: Artist }) {
  const router = useRouter();
  return (
    <Button
      icon={MessageSquarePlus}
      aria-label={`New chat about ${artist.name}`}
      onClick={() => {
        chooseArtist(artist);
        router.push("/chat");
      }}
    >
      New chat
    </Button>
  );
}

/** The account's usage for the artist since the start of the month. */
export function ArtistUsage({ id }: { readonly id: string }) {
  const { data, error } = useQuery<Answer<typeof getUsageContract>>("/api/usage?group_by=artist");
  // The page is about more than its figures.
  if (error !== null) return null;
  const used = data?.items.find(({ key }) => key === id);
  const shown = (amount: string) =>
    data === undefined ? <Skeleton className="h-6 w-12" /> : amount;
  return (
    <section aria-label="Usage this month" className="mb-6">
      <Figures
        className="grid-cols-2 sm:grid-cols-4"
        figures={[
          ["Runs", shown(formatCount(used?.runs ?? 0))],
          ["Tokens", shown(formatCompact((used?.input_tokens ?? 0) + (used?.output_tokens ?? 0)))],
          ["Cost", shown(used ? formatCost(used) : formatUsd(0))],
          ["Images and videos", shown(formatCount((used?.images ?? 0) + (used?.videos ?? 0)))],
        ]}
      />
      <p className="mt-1.5 text-xs text-muted-foreground">Since the start of the month (UTC)</p>
    </section>
  );
}
