"use client";
import { Download } from "lucide-react";
import type { Artist } from "@/lib/artists/artist.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { Segmented } from "../_ui/form.tsx";
import { formatCompact, formatCost, formatCount } from "../_ui/format.ts";
import { saveFile } from "../_ui/save-file.ts";
import { ErrorState, Skeleton } from "../_ui/states.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";
import {
  GROUPS,
  type Group,
  type Metric,
  type Names,
  NO_USAGE,
  type Report,
  type Sums,
  type UsageItem,
} from "./_state/groups.ts";
import { type Days, usagePath } from "./_state/range.ts";

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
        <Button
          icon={Download}
          variant="outline"
          size="sm"
          disabled={!items?.length}
          onClick={download}
        >
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

const COLUMNS = Object.keys(NO_USAGE) as readonly (keyof Sums)[];

/** Returns a report as CSV (RFC 4180). @param nameOf the name of an item's key */
function usageCsv(
  groupBy: string,
  items: readonly UsageItem[],
  nameOf: (key: string | null) => string,
): string {
  const rows = items.map((item) => [
    item.key ?? "",
    nameOf(item.key),
    ...COLUMNS.map((column) => item[column] ?? ""),
  ]);
  return [[groupBy, "name", ...COLUMNS], ...rows]
    .map((row) => `${row.map(csvField).join(",")}\r\n`)
    .join("");
}

/** A name that begins like a formula would be calculated by spreadsheets. */
function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
