"use client";
import { ChartColumn, Table as TableIcon } from "lucide-react";
import { useState } from "react";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { formatDay } from "../_ui/format.ts";
import { type Bar, type Series, StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import {
  type Group,
  type Metric,
  type Names,
  NO_USAGE,
  type Report,
  type UsageItem,
} from "./_state/groups.ts";
import { type Days, eachDay, usagePath } from "./_state/range.ts";

interface DayChartProps {
  readonly days: Days;
  readonly items: readonly UsageItem[];
  readonly metric: Metric;
  readonly group: Group;
  readonly names: Names;
}

/** One measure by day as bars that are divided by what caused it, or as a table. */
export function DayChart({ days, items, metric, group, names }: DayChartProps) {
  // A run may call several models, so that their runs are more than those of the day.
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
        <Button
          icon={isTable ? ChartColumn : TableIcon}
          variant="ghost"
          size="sm"
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? "View as chart" : "View as table"}
        </Button>
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

/** The bars of usage by day, divided by what caused it. */

const COLORS = ["text-accent", "text-chart-2", "text-chart-3", "text-chart-4", "text-chart-5"];

export interface Chart {
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
}

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
