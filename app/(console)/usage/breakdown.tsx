"use client";
import { Download } from "lucide-react";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { formatCompact, formatCost, formatCount } from "@/app/(console)/_ui/format-number.ts";
import { usageCsv } from "@/app/(console)/usage/_state/csv.ts";
import { GROUPS, type Group, type Names } from "@/app/(console)/usage/_state/groups.ts";
import type { Metric, Report } from "@/app/(console)/usage/_state/metrics.ts";
import { type Days, usagePath } from "@/app/(console)/usage/_state/range.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import { Button } from "../_ui/button.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { saveFile } from "../_ui/save-file.ts";
import { Segmented } from "../_ui/segmented.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";

/** The usage of a range by what caused it. */
export function Breakdown({
  days,
  metric,
  group,
  names: { nameOf, artistOf },
  onGroup,
}: {
  readonly days: Days;
  readonly metric: Metric;
  readonly group: Group;
  readonly names: Names;
  readonly onGroup: (group: Group) => void;
}) {
  const { data, error, reload } = useQuery<Report>(usagePath(days, { group_by: group }));
  const items = data?.items.toSorted((one, other) =>
    group === "day"
      ? String(other.key).localeCompare(String(one.key))
      : metric.of(other) - metric.of(one),
  );
  const max = Math.max(...(items ?? []).map(metric.of), 0);
  const download = () =>
    saveFile(
      `usage-by-${group}-${days.first}-${days.last}.csv`,
      new Blob([usageCsv(group, items ?? [], nameOf)], { type: "text/csv" }),
    );
  return (
    <section aria-label="Breakdown">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <Segmented label="By" hideLabel options={GROUPS} value={group} onChange={onGroup} />
        <Button variant="outline" size="sm" disabled={!items?.length} onClick={download}>
          <Download aria-hidden />
          Download CSV
        </Button>
      </div>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {items === undefined && error === null && <Skeleton className="h-40 rounded-xl" />}
      {items?.length === 0 && (
        <p className="rounded-xl border border-dashed px-4 py-8 text-center text-muted-foreground">
          Nothing was used in this time.
        </p>
      )}
      {items !== undefined && items.length > 0 && (
        <Table label={`Usage by ${group.replace("_", " ")}`}>
          <thead>
            <tr>
              <HeadCell>{GROUPS.find(({ value }) => value === group)?.label}</HeadCell>
              <HeadCell className="text-right">Runs</HeadCell>
              <HeadCell className="text-right">Input tokens</HeadCell>
              <HeadCell className="text-right">Output tokens</HeadCell>
              <HeadCell className="text-right">Media</HeadCell>
              <HeadCell className="text-right">Cost</HeadCell>
            </tr>
          </thead>
          <tbody className="text-right tabular-nums">
            {items.map((item) => (
              <tr key={item.key}>
                <Cell className="min-w-44 text-left">
                  <Name text={nameOf(item.key)} artist={artistOf(item.key)} />
                  <span aria-hidden className="mt-1 block h-1 rounded-full bg-muted">
                    <span
                      className="block h-1 rounded-full bg-accent"
                      style={{ width: `${max === 0 ? 0 : (metric.of(item) / max) * 100}%` }}
                    />
                  </span>
                </Cell>
                <Cell>{formatCount(item.runs)}</Cell>
                <Cell>{formatCompact(item.input_tokens)}</Cell>
                <Cell>{formatCompact(item.output_tokens)}</Cell>
                <Cell>{formatCount(item.images + item.videos)}</Cell>
                <Cell>{formatCost(item)}</Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}

function Name({ text, artist }: { readonly text: string; readonly artist: Artist | undefined }) {
  if (artist !== undefined) return <ArtistTag artist={artist} />;
  return <span className="block max-w-80 truncate">{text}</span>;
}
