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
  readonly summary: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly format: (amount: number) => string;
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
        <div
          role="img"
          aria-label={summary}
          className="relative flex min-w-0 flex-1 items-end justify-end"
          style={{ height }}
          onPointerLeave={() => setShownKey(null)}
        >
          {GRID_LINES.map((share) => (
            <span
              key={share}
              className="absolute inset-x-0 border-t"
              style={{ bottom: `${share * 100}%` }}
            />
          ))}
          {bars.map((bar) => {
            const total = sumOf(bar.amounts);
            const share = `${(total / top) * 100}%`;
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: see `onChoose`
              // biome-ignore lint/a11y/useKeyWithClickEvents: see `onChoose`
              <div
                key={bar.key}
                className={cn(
                  "relative flex h-full flex-col justify-end",
                  onChoose && "cursor-pointer",
                  shown !== undefined && shown !== bar && "opacity-45",
                )}
                style={{ width: `${100 / slots}%` }}
                onPointerEnter={() => setShownKey(bar.key)}
                onClick={onChoose && (() => onChoose(bar))}
              >
                <div
                  className="mx-[15%] flex flex-col-reverse"
                  style={{ height: total === 0 ? 0 : `max(${MIN_BAR_PX}px, ${share})` }}
                >
                  {series.map(({ key, color }, index) => (
                    <span
                      key={key}
                      className={cn("basis-0 bg-current", color)}
                      // The shares of the height, which add up to 1.
                      style={{ flexGrow: (bar.amounts[index] ?? 0) / (total || 1) }}
                    />
                  ))}
                </div>
              </div>
            );
          })}
        </div>
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
      {hasLegend && (
        <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1 border-t pt-3 text-sm">
          {series.map(({ key, label, color }, index) => (
            <li key={key} className="flex min-w-0 items-center gap-1.5">
              <span aria-hidden className={cn("size-2.5 shrink-0 rounded-xs bg-current", color)} />
              <span className="max-w-56 truncate">{label}</span>
              <span className="text-muted-foreground tabular-nums">
                {format(sumOf((shown ? [shown] : bars).map((bar) => bar.amounts[index] ?? 0)))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

/** Returns the next of 1, 2, 4, 6, 8 and 10 times a power of ten, whose half is round, too. */
function roundUp(amount: number): number {
  if (amount === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= amount) ?? 10;
  return step * power;
}
