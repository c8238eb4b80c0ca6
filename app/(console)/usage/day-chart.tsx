"use client";
import { ChartColumn, Table as TableIcon } from "lucide-react";
import { useState } from "react";
import { formatDay } from "@/app/(console)/_ui/format-time.ts";
import { type Metric, NO_USAGE, type UsageItem } from "@/app/(console)/usage/_state/metrics.ts";
import { type Days, eachDay } from "@/app/(console)/usage/_state/range.ts";
import { Button } from "../_ui/button.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";

const HEIGHT = 160;
const GRID_LINES = [0, 0.5, 1];

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
  const [isTable, setIsTable] = useState(false);
  const byDay = new Map(items.map((item) => [item.key, item]));
  const values = eachDay(days).map((day) => ({
    day,
    amount: metric.of(byDay.get(day) ?? NO_USAGE),
  }));
  const Icon = isTable ? ChartColumn : TableIcon;
  return (
    <section aria-label={`${metric.label} by day`} className="rounded-xl border bg-surface p-4">
      <div className="mb-3 flex items-center justify-between gap-3">
        <h2 className="font-medium">
          {metric.label} by day <span className="text-sm text-muted-foreground">(UTC)</span>
        </h2>
        <Button variant="ghost" size="sm" onClick={() => setIsTable(!isTable)}>
          <Icon aria-hidden />
          {isTable ? "View as chart" : "View as table"}
        </Button>
      </div>
      {isTable ? (
        <DayTable values={values} metric={metric} />
      ) : (
        <Bars values={values} metric={metric} />
      )}
    </section>
  );
}

interface DayValue {
  readonly day: string;
  readonly amount: number;
}

function Bars({
  values,
  metric,
}: {
  readonly values: readonly DayValue[];
  readonly metric: Metric;
}) {
  const [shown, setShown] = useState<DayValue | null>(null);
  const max = Math.max(...values.map(({ amount }) => amount));
  const top = roundUp(max);
  const total = values.reduce((sum, { amount }) => sum + amount, 0);
  const best = values.find(({ amount }) => amount === max);
  const summary =
    max === 0 || best === undefined
      ? `${metric.label} by day: none.`
      : `${metric.label} by day: ${metric.format(total)} in all, at most ${metric.format(max)} on ${formatDay(best.day)}.`;
  const width = 100 / values.length;
  return (
    <figure>
      <div className="flex gap-2">
        <div
          aria-hidden
          className="flex flex-col-reverse justify-between text-right text-xs text-muted-foreground tabular-nums"
          style={{ height: HEIGHT }}
        >
          {GRID_LINES.map((share) => (
            <span key={share} className="leading-none">
              {max === 0 ? (share === 0 ? "0" : "") : metric.format(top * share)}
            </span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={summary}
          viewBox={`0 0 100 ${HEIGHT}`}
          preserveAspectRatio="none"
          className="min-w-0 flex-1"
          style={{ height: HEIGHT }}
          onPointerLeave={() => setShown(null)}
        >
          {GRID_LINES.map((share) => (
            <line
              key={share}
              x1="0"
              x2="100"
              y1={HEIGHT - share * (HEIGHT - 1)}
              y2={HEIGHT - share * (HEIGHT - 1)}
              className="stroke-border"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {values.map((value, index) => (
            <g key={value.day} onPointerEnter={() => setShown(value)}>
              <rect
                x={index * width}
                y="0"
                width={width}
                height={HEIGHT}
                className="fill-transparent"
              />
              <rect
                x={index * width + width * 0.15}
                width={width * 0.7}
                y={HEIGHT - barHeight(value.amount, top)}
                height={barHeight(value.amount, top)}
                className={
                  shown === null || value === shown ? "fill-accent" : "fill-accent opacity-45"
                }
              />
            </g>
          ))}
        </svg>
      </div>
      <figcaption
        aria-hidden
        className="mt-2 flex justify-between gap-3 text-xs text-muted-foreground tabular-nums"
      >
        <span>{values[0] && formatDay(values[0].day)}</span>
        <span className="font-medium text-foreground">
          {shown && `${formatDay(shown.day)}: ${metric.format(shown.amount)}`}
        </span>
        <span>{formatDay(values.at(-1)?.day ?? "")}</span>
      </figcaption>
    </figure>
  );
}

/** Returns the next of 1, 2, 2.5, 5 and 10 times a power of ten, so that the axis has round amounts. */
function roundUp(amount: number): number {
  if (amount === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= amount) ?? 10;
  return step * power;
}

/** A day with little is still to be seen. */
const barHeight = (amount: number, top: number): number =>
  amount === 0 ? 0 : Math.max(2, (amount / top) * (HEIGHT - 1));

function DayTable({
  values,
  metric,
}: {
  readonly values: readonly DayValue[];
  readonly metric: Metric;
}) {
  return (
    <div className="max-h-72 overflow-y-auto">
      <Table label={`${metric.label} by day`}>
        <thead>
          <tr>
            <HeadCell>Day</HeadCell>
            <HeadCell className="text-right">{metric.label}</HeadCell>
          </tr>
        </thead>
        <tbody>
          {values.toReversed().map(({ day, amount }) => (
            <tr key={day}>
              <Cell>{formatDay(day)}</Cell>
              <Cell className="text-right tabular-nums">{metric.format(amount)}</Cell>
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  );
}
