"use client";
import { useState } from "react";
import { cn } from "./class-names.ts";

export interface Series {
  readonly key: string;
  readonly label: string;
  /** The class of its color, such as `text-chart-1`. */
  readonly color: string;
}

export interface Bar {
  readonly key: string;
  readonly label: string;
  /** One for each series, from the bottom of the bar to its top. */
  readonly amounts: readonly number[];
}

const GRID_LINES = [0, 0.5, 1];
/** A bar with little is still to be seen. */
const MIN_BAR_PX = 3;

export const sumOf = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + amount, 0);

/** Bars over time, the oldest first, with the amounts of the one that is pointed at. */
export function StackedBars({
  summary,
  series,
  bars,
  format,
  height = 160,
  slots = bars.length,
  hasLegend = series.length > 1,
  onChoose,
}: {
  /** What the chart says, for those who do not see it. */
  readonly summary: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly format: (amount: number) => string;
  /** In pixels. */
  readonly height?: number;
  /** How many bars there is room for; fewer stand on the right. */
  readonly slots?: number;
  readonly hasLegend?: boolean;
  /** For the pointer only: the page has another way for the keyboard. */
  readonly onChoose?: ((bar: Bar) => void) | undefined;
}) {
  const [shownKey, setShownKey] = useState<string | null>(null);
  const shown = bars.find(({ key }) => key === shownKey);
  const max = Math.max(0, ...bars.map(({ amounts }) => sumOf(amounts)));
  const top = roundUp(max);
  const width = 100 / slots;
  return (
    <figure>
      <div className="flex gap-2">
        <div
          aria-hidden
          className="flex flex-col-reverse justify-between text-right text-xs text-muted-foreground tabular-nums"
          style={{ height }}
        >
          {GRID_LINES.map((share) => (
            <span key={share} className="leading-none">
              {max === 0 ? (share === 0 ? "0" : "") : format(top * share)}
            </span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={summary}
          viewBox={`0 0 100 ${height}`}
          preserveAspectRatio="none"
          className="min-w-0 flex-1"
          style={{ height }}
          onPointerLeave={() => setShownKey(null)}
        >
          {GRID_LINES.map((share) => (
            <line
              key={share}
              x1="0"
              x2="100"
              y1={height - share * (height - 1)}
              y2={height - share * (height - 1)}
              className="stroke-border"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {bars.map((bar, index) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: see `onChoose`
            <g
              key={bar.key}
              className={cn(
                onChoose && "cursor-pointer",
                shown !== undefined && shown !== bar && "opacity-45",
              )}
              onPointerEnter={() => setShownKey(bar.key)}
              onClick={onChoose && (() => onChoose(bar))}
            >
              <Column
                bar={bar}
                series={series}
                x={(slots - bars.length + index) * width}
                width={width}
                height={height}
                top={top}
              />
            </g>
          ))}
        </svg>
      </div>
      <figcaption
        aria-hidden
        className="mt-2 flex justify-between gap-3 text-xs text-muted-foreground tabular-nums"
      >
        <span>{bars.length === slots && bars[0]?.label}</span>
        <span className="font-medium text-foreground">
          {shown && `${shown.label}: ${format(sumOf(shown.amounts))}`}
        </span>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
      {hasLegend && <Legend {...{ series, bars, shown, format }} />}
    </figure>
  );
}

function Column({
  bar,
  series,
  x,
  width,
  height,
  top,
}: {
  readonly bar: Bar;
  readonly series: readonly Series[];
  readonly x: number;
  readonly width: number;
  readonly height: number;
  readonly top: number;
}) {
  const total = sumOf(bar.amounts);
  const scale = total === 0 ? 0 : Math.max(MIN_BAR_PX, (total / top) * (height - 1)) / total;
  return (
    <>
      <rect x={x} y="0" width={width} height={height} className="fill-transparent" />
      {series.map(({ key, color }, index) => (
        <rect
          key={key}
          x={x + width * 0.15}
          width={width * 0.7}
          y={height - sumOf(bar.amounts.slice(0, index + 1)) * scale}
          height={(bar.amounts[index] ?? 0) * scale}
          className={cn("fill-current", color)}
        />
      ))}
    </>
  );
}

/** The series with the amounts of a bar, or else of all. */
function Legend({
  series,
  bars,
  shown,
  format,
}: {
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly shown: Bar | undefined;
  readonly format: (amount: number) => string;
}) {
  const counted = shown ? [shown] : bars;
  return (
    <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1 border-t pt-3 text-sm">
      {series.map(({ key, label, color }, index) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <span aria-hidden className={cn("size-2.5 shrink-0 rounded-xs bg-current", color)} />
          <span className="max-w-56 truncate">{label}</span>
          <span className="text-muted-foreground tabular-nums">
            {format(sumOf(counted.map(({ amounts }) => amounts[index] ?? 0)))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Returns the next of 1, 2, 4, 6, 8 and 10 times a power of ten, so that its half is round, too. */
function roundUp(amount: number): number {
  if (amount === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= amount) ?? 10;
  return step * power;
}
