"use client";
import { formatDay } from "@/app/(console)/_ui/format-time.ts";
import { type Metric, NO_USAGE, type UsageItem } from "@/app/(console)/usage/_state/metrics.ts";
import { type Days, eachDay } from "@/app/(console)/usage/_state/range.ts";
import { StackedBars, sumOf } from "../_ui/stacked-bars.tsx";
import { Cell, HeadCell } from "../_ui/table.tsx";
import { ChartCard } from "./chart-card.tsx";

/** One measure by day as bars, or as a table. */
export function DayChart({
  days,
  items,
  metric,
}: {
  readonly days: Days;
  readonly items: readonly UsageItem[];
  readonly metric: Metric;
}) {
  const byDay = new Map(items.map((item) => [item.key, item]));
  const series = [{ key: "all", label: metric.label, color: "text-accent" }];
  const bars = eachDay(days).map((day) => ({
    key: day,
    label: formatDay(day),
    amounts: [metric.of(byDay.get(day) ?? NO_USAGE)],
  }));
  const totals = bars.map(({ amounts }) => sumOf(amounts));
  const max = Math.max(...totals);
  const best = bars[totals.indexOf(max)];
  const summary =
    max === 0 || best === undefined
      ? `${metric.label} by day: none.`
      : `${metric.label} by day: ${metric.format(sumOf(totals))} in all, at most ${metric.format(max)} on ${best.label}.`;
  return (
    <ChartCard
      title={`${metric.label} by day`}
      note="UTC"
      chart={<StackedBars {...{ summary, series, bars }} format={metric.format} />}
      table={
        <>
          <thead>
            <tr>
              <HeadCell>Day</HeadCell>
              <HeadCell className="text-right">{metric.label}</HeadCell>
            </tr>
          </thead>
          <tbody>
            {bars.toReversed().map(({ key, label, amounts }) => (
              <tr key={key}>
                <Cell>{label}</Cell>
                <Cell className="text-right tabular-nums">{metric.format(sumOf(amounts))}</Cell>
              </tr>
            ))}
          </tbody>
        </>
      }
    />
  );
}
