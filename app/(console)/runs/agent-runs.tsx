"use client";
import { Bot, CalendarClock, MessageSquare, Plus, SearchX } from "lucide-react";
import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useMemo } from "react";
import { useArtists } from "@/app/(console)/_hooks/shared-reads.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { useFollowArtist } from "@/app/(console)/_hooks/use-follow-artist.ts";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { formatCompact, formatUsd } from "@/app/(console)/_ui/format-number.ts";
import { formatDuration } from "@/app/(console)/_ui/format-time.ts";
import {
  hasFilters,
  type RunFilters,
  readFilters,
  runsPath,
} from "@/app/(console)/runs/_state/run-filters.ts";
import {
  RUN_KIND_LABELS,
  type RunItem,
  runDurationOf,
  runStateOf,
} from "@/app/(console)/runs/_state/run-state.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Cover } from "../_ui/cover.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { LoadMore } from "../_ui/load-more.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ListSkeleton } from "../_ui/skeleton.tsx";
import { listHeadStyle } from "../_ui/table.tsx";
import { coverSeed } from "../artists/cover-seed.ts";
import { RunFilterBar } from "./run-filter-bar.tsx";
import { RunStatus } from "./run-status.tsx";

const icons = { chat: MessageSquare, headless: Bot, task: CalendarClock } as const;
const ACTIVE_POLL_MS = 2_500;
/** Runs that others start, such as schedules and API clients, appear by themselves. */
const IDLE_POLL_MS = 10_000;

const isUnfinished = ({ finishedAt }: RunItem): boolean => finishedAt === null;

/** All runs of the account, newest first, kept up to date. */
export function AgentRuns({ onStart }: { readonly onStart: () => void }) {
  const query = useSearchParams();
  const filters = readFilters(query);
  const setFilters = (next: Partial<RunFilters>) => {
    const entries = Object.entries({ ...filters, ...next }).filter(([, value]) => value !== "");
    const text = new URLSearchParams(entries).toString();
    history.replaceState(null, "", text === "" ? "/runs" : `/runs?${text}`);
  };
  useFollowArtist(filters.artist, (artist) => setFilters({ artist }));
  const key = JSON.stringify(filters);
  const path = useMemo(() => runsPath(JSON.parse(key), Date.now()), [key]);
  const runs = usePages<RunItem>(path, "runs", (loaded) =>
    loaded.some(isUnfinished) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  );
  const { items, error, refresh } = runs;
  const now = useClock(items?.some(isUnfinished) ?? false);
  const isFiltered = hasFilters(filters);
  const artists = useArtists();
  const artistOf = (id: string | null) => artists.find(({ account_id }) => account_id === id);

  if (items?.length === 0 && !isFiltered) return <NoRuns onStart={onStart} />;
  return (
    <>
      <RunFilterBar filters={filters} artists={artists} onChange={setFilters} />
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={refresh} />
        </div>
      )}
      {items === undefined ? (
        error === null && <ListSkeleton label="Loading runs…" />
      ) : items.length === 0 ? (
        <EmptyState
          icon={SearchX}
          title="No matching runs"
          text="No run matches these filters. Remove a filter, or choose a longer time."
        >
          <Button
            variant="outline"
            onClick={() => setFilters({ status: "", kind: "", artist: "", chat: "", since: "" })}
          >
            Clear filters
          </Button>
        </EmptyState>
      ) : (
        <>
          <div className="overflow-hidden rounded-xl border bg-surface shadow-xs">
            <div
              aria-hidden
              className={cn(
                listHeadStyle,
                "grid grid-cols-[minmax(0,1fr)_7rem_7.5rem_4.5rem_4.5rem_5.5rem_6rem] gap-x-4 max-lg:hidden",
              )}
            >
              <span>Run</span>
              <span>Status</span>
              <span>Model</span>
              <span className="text-right">Tokens</span>
              <span className="text-right">Cost</span>
              <span className="text-right">Duration</span>
              <span className="text-right">Started</span>
            </div>
            <ul className="divide-y">
              {items.map((run) => (
                <li key={run.runId}>
                  <Row run={run} artist={artistOf(run.artist_id)} now={now} />
                </li>
              ))}
            </ul>
          </div>
          <LoadMore pages={runs} />
        </>
      )}
    </>
  );
}

function Row({
  run,
  artist,
  now,
}: {
  readonly run: RunItem;
  readonly artist: Artist | undefined;
  readonly now: number;
}) {
  const Icon = icons[run.kind];
  const kind = RUN_KIND_LABELS[run.kind];
  const duration = formatDuration(run.duration_ms ?? runDurationOf(run, now));
  return (
    <Link
      href={`/runs/${run.runId}`}
      prefetch={false}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2 hover:bg-muted/60 focus-visible:-outline-offset-2 lg:grid-cols-[minmax(0,1fr)_7rem_7.5rem_4.5rem_4.5rem_5.5rem_6rem]"
    >
      <span className="flex min-w-0 items-center gap-3">
        <span className="grid size-7 shrink-0 place-items-center rounded-md bg-muted text-muted-foreground">
          <Icon aria-hidden className="size-4" />
        </span>
        <span className="min-w-0">
          <span className="block truncate font-medium">{run.title.trim() || "Untitled"}</span>
          <span className="block truncate text-sm text-muted-foreground">
            <span className="tabular-nums lg:hidden">
              <RelativeTime date={run.createdAt} />
              {" · "}
              {duration}
              {" · "}
            </span>
            <span className={cn(run.error !== null && "max-lg:hidden")}>
              {kind}
              {artist !== undefined && (
                <>
                  {" · "}
                  <Cover
                    seed={coverSeed(artist)}
                    image={artist.image}
                    round
                    className="mr-1 inline-block size-3.5 align-[-0.125rem]"
                  />
                  {artist.name}
                </>
              )}
            </span>
            {run.error !== null && (
              <span className="text-danger-text">
                <span className="max-lg:hidden"> · </span>
                {run.error}
              </span>
            )}
          </span>
        </span>
      </span>
      <span className="flex justify-self-end lg:justify-self-start">
        <RunStatus isCompact state={runStateOf(run)} />
      </span>
      <span className="truncate text-sm text-muted-foreground max-lg:hidden">{run.model_id}</span>
      <span className="text-right text-sm text-muted-foreground tabular-nums max-lg:hidden">
        {run.usage.total_tokens > 0 && formatCompact(run.usage.total_tokens)}
      </span>
      <span className="text-right text-sm text-muted-foreground tabular-nums max-lg:hidden">
        {formatUsd(run.cost_usd)}
      </span>
      <span className="text-right text-sm text-muted-foreground tabular-nums max-lg:hidden">
        {duration}
      </span>
      <RelativeTime
        date={run.createdAt}
        className="text-right text-sm whitespace-nowrap text-muted-foreground max-lg:hidden"
      />
    </Link>
  );
}

function NoRuns({ onStart }: { readonly onStart: () => void }) {
  return (
    <EmptyState
      icon={Bot}
      title="No agent runs yet"
      text="Ask for something that takes a while, such as a check of this quarter's royalty statements. The agent works in its own sandbox, and you can follow each step here."
    >
      <Button onClick={onStart}>
        <Plus aria-hidden />
        Start agent run
      </Button>
      <Link href="/schedules" prefetch={false} className={buttonStyle({ variant: "outline" })}>
        <CalendarClock aria-hidden />
        Schedule a prompt
      </Link>
    </EmptyState>
  );
}
