"use client";
import type { ReactNode } from "react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { formatCost, formatCount } from "@/app/(console)/_ui/format-number.ts";
import { formatDateTime, formatDuration } from "@/app/(console)/_ui/format-time.ts";
import { RUN_KIND_LABELS, runDurationOf } from "@/app/(console)/runs/_state/run-state.ts";
import type { getArtistContract } from "@/lib/artists/contract.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { ArtistTag } from "../../artists/artist-tag.tsx";

type FoundArtist = z.output<(typeof getArtistContract)["responses"][200]["schema"]>;

/** What a run is and what it has used, in one row. */
export function RunFacts({ run, now }: { readonly run: RunTrace["run"]; readonly now: number }) {
  const { usage } = run;
  const found = useQuery<FoundArtist>(run.artist_id && `/api/artists/${run.artist_id}`).data;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface px-4 py-3.5 sm:grid-cols-3 lg:flex lg:flex-wrap lg:gap-x-10">
      <Fact name="Started">{formatDateTime(run.createdAt)}</Fact>
      <Fact name="Duration">{formatDuration(run.duration_ms ?? runDurationOf(run, now))}</Fact>
      <Fact name="Kind">{RUN_KIND_LABELS[run.kind]}</Fact>
      {found !== undefined && (
        <Fact name="Artist">
          <ArtistTag artist={found.artist} />
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
