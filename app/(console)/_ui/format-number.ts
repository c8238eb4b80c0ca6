/** The one format of amounts in the console. */
import { lazily } from "./lazily.ts";

const compactFormat = lazily(
  () => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }),
);
const fullFormat = lazily(() => new Intl.NumberFormat("en"));

/** Returns, for example, `940`, `12.3K` or `1.2M`. */
export const formatCompact = (count: number): string => compactFormat().format(count);

/** Returns, for example, `12,345`. */
export const formatCount = (count: number): string => fullFormat().format(count);

/** Returns, for example, `$12.30`, `$0.0042` or `<$0.0001`; `Unknown` for null. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return "Unknown";
  if (usd === 0 || usd >= 0.1)
    return `$${fullFormat()
      .format(Number(usd.toFixed(2)))
      .replace(/(\.\d)$/, "$10")}`;
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd.toFixed(4)}`;
}

/** Returns, for example, `$12.30`, `Unknown`, or `$12.30 + unknown` where only some calls have a price. */
export const formatCost = (sums: {
  readonly cost_usd: number | null;
  readonly unpriced_calls: number;
}): string => {
  const isPartial = sums.cost_usd !== null && sums.unpriced_calls > 0;
  return `${formatUsd(sums.cost_usd)}${isPartial ? " + unknown" : ""}`;
};
