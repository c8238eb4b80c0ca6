/** What the embedded model tells of a table: totals, and rows that do not fit the others. */
import { findOddities } from "./find-oddities.ts";
import { type Column, type Row, readTable, type Table } from "./read-table.ts";
import { formatAmount, median } from "./table-numbers.ts";

const MAX_GROUPINGS = 2;
const MAX_GROUPS = 12;
const MAX_ODDITIES = 10;
/** Columns whose sum means nothing. */
const NOT_SUMMED =
  /\b(?:rate|price|percent|share|year|period|month|quarter|date|id|isrc|upc|ean)\b|%/i;

/**
 * Returns a report in Markdown about the text of a CSV file, or null if it is not one.
 *
 * @param request names the columns to sum by: "by track and territory"
 */
export function analyzeTable(text: string, request: string): string | null {
  const table = readTable(text);
  if (table === null) return null;
  const { columns, rows } = table;
  const summed = columns.filter(
    ({ name, numbers }) => numbers && !NOT_SUMMED.test(name) && !isCounter(numbers),
  );
  const groupings = chooseGroupings(table, request);
  const names = columns.map(({ name }) => name).join(", ");
  return [
    `It has ${rows.length} ${rows.length === 1 ? "row" : "rows"} and ${columns.length} columns: ${names}.`,
    ...(groupings.length > 0 && summed.length > 0
      ? groupings.map((grouping) => totalsBy(grouping, summed, rows))
      : [totalsOf(summed)]),
    `**What stands out**\n${listOf(findOddities(table))}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function listOf(oddities: readonly string[]): string {
  if (oddities.length === 0) {
    return "- Nothing: no row is there twice, no cell is empty, and the numbers are alike.";
  }
  const hidden = oddities.length - MAX_ODDITIES;
  const lines = [...oddities.slice(0, MAX_ODDITIES), ...(hidden > 0 ? [`and ${hidden} more`] : [])];
  return lines.map((line) => `- ${line}`).join("\n");
}

/** The columns of text that the request names, or else the first whose values repeat. */
function chooseGroupings({ columns, rows }: Table, request: string): readonly Column[] {
  const texts = columns.filter(({ numbers }) => numbers === undefined);
  const words = request.toLowerCase();
  const named = texts.filter(({ name }) => words.includes(name.toLowerCase()));
  if (named.length > 0) return named.slice(0, MAX_GROUPINGS);
  const repeating = texts.filter((column) => {
    const values = new Set(rows.map(({ cells }) => cells[column.index]));
    return values.size > 1 && values.size < rows.length;
  });
  return repeating.slice(0, MAX_GROUPINGS);
}

function totalsBy(grouping: Column, summed: readonly Column[], rows: readonly Row[]): string {
  const groups = new Map<string, number[]>();
  for (const [index, { cells }] of rows.entries()) {
    const key = cells[grouping.index] || "(empty)";
    const places = groups.get(key);
    if (places) places.push(index);
    else groups.set(key, [index]);
  }
  const last = summed.at(-1);
  const ordered = [...groups].sort(([, a], [, b]) => (last ? sum(last, b) - sum(last, a) : 0));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const totals = (name: string, places: readonly number[] | null) =>
    line([
      escapeCell(name),
      ...summed.map((column) => formatAmount(sum(column, places), column.digits)),
    ]);
  const hidden = ordered.length - MAX_GROUPS;
  return [
    `**By ${grouping.name.toLowerCase()}**\n`,
    line([grouping.name, ...summed.map(({ name }) => name)].map(escapeCell)),
    line(["---", ...summed.map(() => "---:")]),
    ...ordered.slice(0, MAX_GROUPS).map(([name, places]) => totals(name, places)),
    ...(hidden > 0 ? [line([`and ${hidden} more`, ...summed.map(() => "")])] : []),
    totals("Total", null),
  ].join("\n");
}

/** For a table without anything to group by. */
const totalsOf = (summed: readonly Column[]): string =>
  summed
    .map((column) => {
      const numbers = (column.numbers ?? []).filter((one) => one !== null);
      const [total, middle] = [sum(column, null), median(numbers)].map((amount) =>
        formatAmount(amount, column.digits),
      );
      return `- ${column.name}: ${total} in all, with a median of ${middle}`;
    })
    .join("\n");

/** Sums the rows at `places`, or all. */
function sum({ numbers = [] }: Column, places: readonly number[] | null): number {
  const chosen = places === null ? numbers : places.map((place) => numbers[place] ?? null);
  return chosen.reduce<number>((total, one) => total + (one ?? 0), 0);
}

const isCounter = (numbers: readonly (number | null)[]): boolean =>
  numbers.length > 1 && numbers.every((one, index) => one === index + 1);

const escapeCell = (text: string): string => text.replace(/[\r\n]+/g, " ").replaceAll("|", "\\|");
