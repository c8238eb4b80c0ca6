import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { SmallButton } from "../_ui/button.tsx";
import { Segmented } from "../_ui/form.tsx";
import { formatCompact, formatCost, formatCount, formatDay } from "../_ui/format.ts";
import { ChartColumn, Download, Table as TableIcon } from "../_ui/icons.tsx";
import { saveFile } from "../_ui/save-file.ts";
import { type Bar, type Series, StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { ErrorState, Skeleton } from "../_ui/states.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";
import {
  type Days,
  eachDay,
  GROUPS,
  type Group,
  type Metric,
  type Names,
  NO_USAGE,
  type Report,
  type Sums,
  type UsageItem,
  usagePath,
} from "./_state/groups.ts";

export function Breakdown({
  days,
  metric,
  group,
  names: { nameOf, artistOf },
  onGroup,
}: ReportProps & { readonly onGroup: (group: Group) => void }) {
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
        <SmallButton icon={Download} disabled={!items?.length} onClick={download}>
          Download CSV
        </SmallButton>
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
              {["Runs", "Input tokens", "Output tokens", "Media", "Cost"].map((name) => (
                <HeadCell key={name} className="text-right">
                  {name}
                </HeadCell>
              ))}
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

/** Spreadsheets would evaluate a name that starts like a formula. */
function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface ReportProps {
  readonly days: Days;
  readonly metric: Metric;
  readonly group: Group;
  readonly names: Names;
}

type DayChartProps = ReportProps & { readonly items: readonly UsageItem[] };

/** One measure by day as bars that are divided by what caused it, or as a table. */
export function DayChart({ days, items, metric, group, names }: DayChartProps) {
  // A run may call several models, so the models' runs add up to more than the day's.
  const isDivided = group !== "day" && !(group === "model" && metric.value === "runs");
  const groups = { group_by: "day", split_by: group };
  const divided = useQuery<Report>(isDivided ? usagePath(days, groups) : null).data;
  const [isTable, setIsTable] = useState(false);
  const shownDays = eachDay(days);
  const { series, bars } =
    divided === undefined
      ? chartOf(shownDays, items, metric)
      : dividedChartOf(shownDays, divided.items, metric, names.nameOf);
  const totals = bars.map(({ amounts }) => sumOf(amounts));
  const max = Math.max(...totals);
  const best = bars[totals.indexOf(max)];
  const summary =
    max === 0 || best === undefined
      ? `${metric.label} by day: none.`
      : `${metric.label} by day: ${metric.format(sumOf(totals))} in all, at most ${metric.format(max)} on ${best.label}.`;
  const title = `${metric.label} by day`;
  return (
    <section aria-label={title} className="rounded-xl border bg-surface p-4">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <h2 className="font-medium">
          {title} <span className="text-sm text-muted-foreground">(UTC)</span>
        </h2>
        <SmallButton
          icon={isTable ? ChartColumn : TableIcon}
          variant="ghost"
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? "View as chart" : "View as table"}
        </SmallButton>
      </div>
      {isTable ? (
        <div className="max-h-72 overflow-y-auto">
          <Table label={`${title}, table`}>
            <thead>
              <tr>
                <HeadCell>Day</HeadCell>
                {series.length > 1 &&
                  series.map(({ key, label }) => (
                    <HeadCell key={key} className="text-right">
                      {label}
                    </HeadCell>
                  ))}
                <HeadCell className="text-right">{metric.label}</HeadCell>
              </tr>
            </thead>
            <tbody>
              {bars.toReversed().map(({ key, label, amounts }) => (
                <tr key={key}>
                  <Cell>{label}</Cell>
                  {series.length > 1 &&
                    series.map((one, index) => (
                      <Cell key={one.key} className="text-right tabular-nums">
                        {metric.format(amounts[index] ?? 0)}
                      </Cell>
                    ))}
                  <Cell className="text-right tabular-nums">{metric.format(sumOf(amounts))}</Cell>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
      ) : (
        <StackedBars {...{ summary, series, bars }} format={metric.format} />
      )}
    </section>
  );
}

const COLORS = ["text-accent", "text-chart-2", "text-chart-3", "text-chart-4", "text-chart-5"];

type Chart = Readonly<{ series: readonly Series[]; bars: readonly Bar[] }>;

/** Returns a bar of one color for each day. */
function chartOf(days: readonly string[], items: readonly UsageItem[], metric: Metric): Chart {
  const byDay = new Map(items.map((item) => [item.key, item]));
  return {
    series: [{ key: "all", label: metric.label, color: "text-accent" }],
    bars: days.map((day) => barOf(day, [metric.of(byDay.get(day) ?? NO_USAGE)])),
  };
}

/**
 * Returns a bar for each day that is divided by the parts of the items: the five with the most in all days,
 * and the others together.
 */
function dividedChartOf(
  days: readonly string[],
  items: readonly UsageItem[],
  metric: Metric,
  nameOf: (key: string | null) => string,
): Chart {
  const amounts = new Map(items.map(({ key, parts = [] }) => [key, amountsOf(parts, metric)]));
  const sums = new Map<string | null, number>();
  for (const parts of amounts.values()) {
    for (const [key, amount] of parts) sums.set(key, (sums.get(key) ?? 0) + amount);
  }
  const used = [...sums].filter(([, amount]) => amount > 0);
  const keys = used.toSorted(([, one], [, other]) => other - one).map(([key]) => key);
  const shown = keys.slice(0, COLORS.length);
  const named = shown.map((key, index) => ({
    key: String(key),
    label: nameOf(key),
    color: COLORS[index] ?? "text-accent",
  }));
  const divided = (day: string) => shown.map((key) => amounts.get(day)?.get(key) ?? 0);
  if (keys.length === shown.length) {
    return { series: named, bars: days.map((day) => barOf(day, divided(day))) };
  }
  const totals = new Map(items.map((item) => [item.key, metric.of(item)]));
  const bars = days.map((day) => {
    const parts = divided(day);
    return barOf(day, [...parts, Math.max(0, (totals.get(day) ?? 0) - sumOf(parts))]);
  });
  return { series: [...named, { key: "rest", label: "Other", color: "text-chart-rest" }], bars };
}

const amountsOf = (parts: NonNullable<UsageItem["parts"]>, metric: Metric) =>
  new Map(parts.map((part) => [part.key, metric.of(part)]));

const barOf = (day: string, amounts: readonly number[]): Bar => ({
  key: day,
  label: formatDay(day),
  amounts,
});
