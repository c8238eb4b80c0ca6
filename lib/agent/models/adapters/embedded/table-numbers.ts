/** Numbers as tables have them, and as a report shows them. */

const ENGLISH = /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;
const CONTINENTAL = /^-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+$/;

/** Longer cells are text. Taking the spaces off their ends would take time by the square of their length. */
const MAX_AMOUNT_CHARS = 40;

/** Reads "1,234.50", "1.234,50", "€ 12" and "3 %"; null for anything else. */
export function parseAmount(cell: string): number | null {
  if (cell.length > MAX_AMOUNT_CHARS) return null;
  const bare = cell.replace(/^[\s€$£¥]+|[\s€$£¥%]+$/g, "");
  if (ENGLISH.test(bare)) return Number(bare.replaceAll(",", ""));
  if (CONTINENTAL.test(bare)) return Number(bare.replaceAll(".", "").replace(",", "."));
  return null;
}

const MAX_DIGITS = 6;
/** By the digits after the point; making one takes far longer than using it. */
const formats = Array.from(
  { length: MAX_DIGITS + 1 },
  (_, digits) =>
    new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** Formats with thousands and this number of digits after the point, at most 6. */
export const formatAmount = (value: number, digits: number): string =>
  formats[digits]?.format(value) ?? String(value);

/** Returns the most digits that one of the numbers has after the point: 0, or 2 to 6. */
export function digitsOf(numbers: readonly (number | null)[]): number {
  const longest = numbers.reduce<number>((most, one) => Math.max(most, decimalsOf(one ?? 0)), 0);
  return longest === 1 ? 2 : longest;
}

const decimalsOf = (value: number): number =>
  Math.min(MAX_DIGITS, String(value).split(".").at(1)?.length ?? 0);

/** Returns 0 for no numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
