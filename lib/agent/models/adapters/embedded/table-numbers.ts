/** Numbers as tables have them, and as a report shows them. */

const ENGLISH = /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;
const CONTINENTAL = /^-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+$/;

/** Reads "1,234.50", "1.234,50", "€ 12" and "3 %"; null for anything else. */
export function parseAmount(cell: string): number | null {
  const bare = cell.replace(/^[\s€$£¥]+|[\s€$£¥%]+$/g, "");
  if (ENGLISH.test(bare)) return Number(bare.replaceAll(",", ""));
  if (CONTINENTAL.test(bare)) return Number(bare.replaceAll(".", "").replace(",", "."));
  return null;
}

/** Formats with thousands, and with the digits after the point that the column's numbers have: 0, or 2 and more. */
export function formatAmount(value: number, column: readonly (number | null)[]): string {
  const longest = column.reduce<number>((most, one) => Math.max(most, decimalsOf(one ?? 0)), 0);
  const digits = longest === 1 ? 2 : longest;
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

const decimalsOf = (value: number): number =>
  Math.min(6, String(value).split(".").at(1)?.length ?? 0);

/** Returns 0 for no numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
