import { useSearchParams } from "next/navigation";
import { useMemo } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { withQuery } from "../_api/with-query.ts";
import { useArtists } from "../_hooks/shared-reads.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { useFollowArtist } from "../_hooks/use-follow-artist.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { Button, ButtonLink } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Segmented, Select } from "../_ui/form.tsx";
import { formatCompact, formatDuration, formatUsd } from "../_ui/format.ts";
import { Bot, CalendarClock, MessageSquare, Plus, SearchX, X } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { listHeadStyle } from "../_ui/table.tsx";
import { ArtistCover } from "../artists/artist-tag.tsx";
import { RUN_KIND_LABELS, type RunItem, runDurationOf, runStateOf } from "./_state/run-state.ts";
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
  const setFilters = (next: Partial<RunFilters>) =>
    history.replaceState(null, "", withQuery("/runs", { ...filters, ...next }));
  useFollowArtist(filters.artist, (artist) => setFilters({ artist }));
  const key = JSON.stringify(filters);
  const path = useMemo(() => runsPath(JSON.parse(key), Date.now()), [key]);
  const runs = usePages<RunItem>(path, "runs", (loaded) =>
    loaded.some(isUnfinished) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
  );
  const { items } = runs;
  const now = useClock(items?.some(isUnfinished) ?? false);
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const artists = useArtists();

  if (items?.length === 0 && !isFiltered) return <NoRuns onStart={onStart} />;
  return (
    <>
      <RunFilterBar filters={filters} artists={artists} onChange={setFilters} />
      <PagedList
        label="Runs"
        pages={{ ...runs, items: items?.filter(({ runId }) => runId !== filters.compare) }}
        loadingRows={6}
        head={
          <div aria-hidden className={cn(listHeadStyle, columns, "grid gap-x-4 max-lg:hidden")}>
            {["Run", "Status", "Model", "Tokens", "Cost", "Duration", "Started"].map(
              (name, place) => (
                <span key={name} className={cn(place > 2 && "text-right")}>
                  {name}
                </span>
              ),
            )}
          </div>
        }
        empty={
          <EmptyState
            icon={SearchX}
            title="No matching runs"
            text="No run matches these filters. Remove a filter, or choose a longer time."
          >
            <Button variant="outline" onClick={() => history.replaceState(null, "", "/runs")}>
              Clear filters
            </Button>
          </EmptyState>
        }
        keyOf={(run) => run.runId}
      >
        {(run) => <RunRow {...{ run, artists, now }} compareWith={filters.compare} />}
      </PagedList>
    </>
  );
}

const columns = "lg:grid-cols-[minmax(0,1fr)_7rem_7.5rem_4.5rem_4.5rem_5.5rem_6rem]";
/** A figure in its own column, for which a phone has no room. */
const cellStyle = "text-right text-sm text-muted-foreground tabular-nums max-lg:hidden";

interface RowProps {
  readonly run: RunItem;
  readonly artists: readonly Artist[];
  readonly now: number;
  /** The run with which a click compares it. Default: none, a click opens it. */
  readonly compareWith?: string;
}

export function RunRow({ run, artists, now, compareWith = "" }: RowProps) {
  const artist = artists.find(({ account_id }) => account_id === run.artist_id);
  const Icon = icons[run.kind];
  const kind = RUN_KIND_LABELS[run.kind];
  const duration = formatDuration(run.duration_ms ?? runDurationOf(run, now));
  return (
    <Link
      href={compareWith ? `/runs/compare?a=${compareWith}&b=${run.runId}` : `/runs/${run.runId}`}
      className={`grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2 hover:bg-muted/60 focus-visible:-outline-offset-2 ${columns}`}
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
                  <ArtistCover
                    artist={artist}
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
      <span className={cellStyle}>
        {run.usage.total_tokens > 0 && formatCompact(run.usage.total_tokens)}
      </span>
      <span className={cellStyle}>{formatUsd(run.cost_usd)}</span>
      <span className={cellStyle}>{duration}</span>
      <RelativeTime date={run.createdAt} className={cn(cellStyle, "whitespace-nowrap")} />
    </Link>
  );
}

const NoRuns = ({ onStart }: { readonly onStart: () => void }) => (
  <EmptyState
    icon={Bot}
    title="No agent runs yet"
    text="Ask for something that takes a while, such as a check of this quarter's royalty statements. You can follow each step here."
  >
    <Button icon={Plus} onClick={onStart}>
      Start agent run
    </Button>
    <ButtonLink icon={CalendarClock} href="/schedules" variant="outline">
      Schedule a prompt
    </ButtonLink>
  </EmptyState>
);

interface RunFilterBarProps {
  readonly filters: RunFilters;
  readonly artists: readonly Artist[];
  readonly onChange: (next: Partial<RunFilters>) => void;
}

function RunFilterBar({ filters, artists, onChange }: RunFilterBarProps) {
  const artistOptions = artists.map(({ account_id, name }) => ({ value: account_id, label: name }));
  const selects = [
    { name: "kind", label: "Kind", all: "All kinds", options: KIND_OPTIONS },
    { name: "artist", label: "Artist", all: "All artists", options: artistOptions },
    { name: "since", label: "Time", all: "Any time", options: SINCE_OPTIONS },
  ] as const;
  const chips = [
    { name: "chat", label: "This chat only", remove: "Show all chats" },
    { name: "skill", label: `Skill: ${filters.skill}`, remove: "Show all skills" },
    { name: "compare", label: "Choose a run to compare", remove: "Compare nothing" },
  ] as const;
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <Segmented
        label="Status"
        hideLabel
        options={STATUS_OPTIONS}
        value={filters.status}
        onChange={(status) => onChange({ status })}
      />
      {selects.map(
        ({ name, label, all, options }) =>
          (options.length > 0 || filters[name] !== "") && (
            <Select
              key={name}
              aria-label={label}
              className="w-38 max-sm:min-w-0 max-sm:flex-1 max-sm:basis-[40%]"
              value={filters[name]}
              onChange={(value) => onChange({ [name]: value })}
              options={[{ value: "", label: all }, ...options]}
            />
          ),
      )}
      {chips.map(
        ({ name, label, remove }) =>
          filters[name] !== "" && (
            <Button key={name} variant="outline" size="sm" onClick={() => onChange({ [name]: "" })}>
              {label}
              <X aria-label={remove} />
            </Button>
          ),
      )}
    </div>
  );
}

/** The filters of the list of runs. They are in the address, so a view can be linked. */

const STATUS_OPTIONS = [
  { value: "", label: "All" },
  { value: "running", label: "Running" },
  { value: "requires_action", label: "Needs action" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
] as const;

const KIND_OPTIONS = Object.entries(RUN_KIND_LABELS).map(([value, label]) => ({ value, label }));

const HOUR_MS = 3_600_000;
const SINCE_OPTIONS = [
  { value: "1h", label: "Last hour", ms: HOUR_MS },
  { value: "24h", label: "Last 24 hours", ms: 24 * HOUR_MS },
  { value: "7d", label: "Last 7 days", ms: 7 * 24 * HOUR_MS },
  { value: "30d", label: "Last 30 days", ms: 30 * 24 * HOUR_MS },
] as const;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns the filters of an address, each empty unless it has a value that is known. */
function readFilters(query: URLSearchParams) {
  const textOf = (name: string) => query.get(name) ?? "";
  const idOf = (name: string) => (UUID.test(textOf(name)) ? textOf(name) : "");
  const choiceOf = <V extends string>(name: string, options: readonly { readonly value: V }[]) =>
    options.find(({ value }) => value === textOf(name))?.value ?? "";
  return {
    status: choiceOf("status", STATUS_OPTIONS),
    kind: choiceOf("kind", KIND_OPTIONS),
    artist: idOf("artist"),
    chat: idOf("chat"),
    since: choiceOf("since", SINCE_OPTIONS),
    skill: textOf("skill"),
    /** The run with which a chosen one is compared. */
    compare: textOf("compare"),
  };
}

type RunFilters = Readonly<ReturnType<typeof readFilters>>;

/** Returns the path of the list. @param now of the relative time, in milliseconds */
function runsPath({ status, kind, artist, chat, since, skill }: RunFilters, now: number): string {
  const span = SINCE_OPTIONS.find(({ value }) => value === since)?.ms;
  return withQuery("/api/chat/runs", {
    ...{ status, kind, artist_id: artist, chat_id: chat, skill },
    since: span === undefined ? "" : new Date(now - span).toISOString(),
  });
}
