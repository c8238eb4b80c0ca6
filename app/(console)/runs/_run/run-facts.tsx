"use client";
import type { ReactNode } from "react";
import { useArtist } from "@/app/(console)/_hooks/shared-reads.ts";
import { formatCost, formatCount } from "@/app/(console)/_ui/format-number.ts";
import { formatDateTime, formatDuration } from "@/app/(console)/_ui/format-time.ts";
import { RUN_KIND_LABELS, runDurationOf } from "@/app/(console)/runs/_state/run-state.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { ArtistTag } from "../../artists/artist-tag.tsx";

/** What a run is and what it has used, in one row. */
export function RunFacts({ run, now }: { readonly run: RunTrace["run"]; readonly now: number }) {
  const { usage } = run;
  const artist = useArtist(run.artist_id);
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface px-4 py-3.5 sm:grid-cols-3 lg:flex lg:flex-wrap lg:gap-x-10">
      <Fact name="Started">{formatDateTime(run.createdAt)}</Fact>
      <Fact name="Duration">{formatDuration(run.duration_ms ?? runDurationOf(run, now))}</Fact>
      <Fact name="Kind">{RUN_KIND_LABELS[run.kind]}</Fact>
      {artist !== undefined && (
        <Fact name="Artist">
          <ArtistTag artist={artist} />
        </Fact>
      )}
      <Fact name="Model">{run.model_id}</Fact>
      <Fact name="Tokens">
        {formatCount(usage.input_tokens)} in · {formatCount(usage.output_tokens)} out
      </Fact>
      <Fact name="Cost">{formatCost(run)}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted-foreground">{name}</dt>
      <dd className="mt-0.5 tabular-nums wrap-anywhere sm:truncate">{children}</dd>
    </div>
  );
}
