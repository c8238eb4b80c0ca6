import type { UsageItem } from "./metrics.ts";

const COLUMNS = [
  "runs",
  "steps",
  "input_tokens",
  "output_tokens",
  "cost_usd",
  "unpriced_calls",
  "images",
  "videos",
] as const;

/** Returns a report as CSV (RFC 4180). @param nameOf the name of an item's key */
export function usageCsv(
  groupBy: string,
  items: readonly UsageItem[],
  nameOf: (key: string | null) => string,
): string {
  const rows = items.map((item) => [
    item.key ?? "",
    nameOf(item.key),
    ...COLUMNS.map((column) => item[column] ?? ""),
  ]);
  return [[groupBy, "name", ...COLUMNS], ...rows]
    .map((row) => `${row.map(csvField).join(",")}\r\n`)
    .join("");
}

/** A name that begins like a formula would be calculated by spreadsheets. */
function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
