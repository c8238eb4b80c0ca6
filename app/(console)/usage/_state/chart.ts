/** The bars of usage by day, divided by what caused it. */
import { formatDay } from "../../_ui/format.ts";
import { type Bar, type Series, sumOf } from "../../_ui/stacked-bars.tsx";
import { type Metric, NO_USAGE, type UsageItem } from "./metrics.ts";

const COLORS = ["text-accent", "text-chart-2", "text-chart-3", "text-chart-4", "text-chart-5"];

export interface Chart {
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
}

/** Returns a bar of one color for each day. */
export function chartOf(
  days: readonly string[],
  items: readonly UsageItem[],
  metric: Metric,
): Chart {
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
export function dividedChartOf(
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
