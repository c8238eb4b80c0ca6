import { SearchX } from "lucide-react";
import type { ReactNode } from "react";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useArtist } from "../../_hooks/shared-reads.ts";
import { formatCost, formatCount, formatDateTime, formatDuration } from "../../_ui/format.ts";
import { Loading, Missing, Skeleton } from "../../_ui/states.tsx";
import { ArtistTag } from "../../artists/artist-tag.tsx";
import { RUN_KIND_LABELS, runDurationOf } from "../_state/run-state.ts";

type Run = RunTrace["run"];

/** The figures of a run by their names. */
export const runFacts: Readonly<Record<string, (run: Run, now: number) => ReactNode>> = {
  Started: ({ createdAt }) => formatDateTime(createdAt),
  Duration: (run, now) => formatDuration(run.duration_ms ?? runDurationOf(run, now)),
  Kind: ({ kind }) => RUN_KIND_LABELS[kind],
  Model: ({ model_id }) => model_id,
  Tokens: ({ usage }) =>
    `${formatCount(usage.input_tokens)} in${usage.cached_input_tokens > 0 ? ` (${formatCount(usage.cached_input_tokens)} cached)` : ""} · ${formatCount(usage.output_tokens)} out`,
  Cost: (run) => formatCost(run),
};

export function RunFacts({ run, now }: { readonly run: Run; readonly now: number }) {
  const artist = useArtist(run.artist_id);
  const facts = Object.entries(runFacts).map(([name, of]) => [name, of(run, now)] as const);
  if (artist) facts.splice(3, 0, ["Artist", <ArtistTag key="artist" artist={artist} />]);
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface px-4 py-3.5 sm:grid-cols-3 lg:flex lg:flex-wrap lg:gap-x-10">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-muted-foreground">{name}</dt>
          <dd className="mt-0.5 tabular-nums wrap-anywhere sm:truncate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the page of a run shows without the run. */
export const runStates = {
  loading: (
    <Loading label="Loading run…" className="flex flex-col gap-5">
      <Skeleton className="h-8 w-72 max-w-full" />
      <Skeleton className="h-20 rounded-xl" />
      <Skeleton className="h-80 rounded-xl" />
    </Loading>
  ),
  missing: (
    <Missing
      icon={SearchX}
      title="Run not found"
      text="Its chat has been deleted, or it belongs to another account."
      href="/runs"
      link="All runs"
    />
  ),
};
