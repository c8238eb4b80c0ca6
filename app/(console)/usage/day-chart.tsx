"use client";
import { ChartColumn, Table as TableIcon } from "lucide-react";
import { useState } from "react";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { chartOf, dividedChartOf } from "./_state/chart.ts";
import type { Group, Names } from "./_state/groups.ts";
import type { Metric, Report, UsageItem } from "./_state/metrics.ts";
import { type Days, eachDay, usagePath } from "./_state/range.ts";

/** One measure by day as bars that are divided by what caused it, or as a table. */
export function DayChart({
  days,
  items,
  metric,
  group,
  names,
}: {
  readonly days: Days;
  readonly items: readonly UsageItem[];
  readonly metric: Metric;
  readonly group: Group;
  readonly names: Names;
}) {
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
