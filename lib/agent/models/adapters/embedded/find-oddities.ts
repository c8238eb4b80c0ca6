/** Finds what a reader of a table would ask about: duplicates, gaps, negative numbers and outliers. */
import type { Column, Row, Table } from "./read-table.ts";
import { formatAmount, median } from "./table-numbers.ts";

/** A rate is an outlier if it is this far from the usual one of its group. */
const FAR = 0.4;
const RATE = /\b(?:rate|price|percent|share)\b|%/i;

/** Returns a sentence for each finding, the most important first. */
export function findOddities(table: Table): string[] {
  return [...duplicates(table), ...outliers(table), ...negatives(table), ...gaps(table)];
}

function duplicates({ rows }: Table): string[] {
  const known = new Map<string, Row>();
  return rows.flatMap((row) => {
    const key = JSON.stringify(row.cells);
    const first = known.get(key);
    if (first) return [`Line ${row.line} repeats line ${first.line}: ${nameOf(row)}.`];
    known.set(key, row);
    return [];
  });
}

function outliers(table: Table): string[] {
  const rates = table.columns.filter(({ name, numbers }) => numbers && RATE.test(name));
  return rates.flatMap((rate) => {
    const grouping = bestGrouping(table, rate);
    const usual = mediansOf(table, rate, grouping);
    return table.rows.flatMap((row, place) => {
      const value = rate.numbers?.[place] ?? null;
      const group = groupOf(row, grouping);
      const middle = usual.get(group) ?? 0;
      if (value === null || middle === 0 || Math.abs(value - middle) <= FAR * Math.abs(middle)) {
        return [];
      }
      const where = grouping === null ? "" : ` for ${group}`;
      return [
        `Line ${row.line}: ${rate.name} ${formatAmount(value, rate.digits)}, where ` +
          `${formatAmount(middle, rate.digits)} is usual${where} (${nameOf(row)}).`,
      ];
    });
  });
}

/** The column of text within whose groups the rates differ least, such as the platform. */
function bestGrouping(table: Table, rate: Column): Column | null {
  const spread = (grouping: Column | null): number => {
    const usual = mediansOf(table, rate, grouping);
    return table.rows.reduce((total, row, place) => {
      const value = rate.numbers?.[place] ?? null;
      const middle = usual.get(groupOf(row, grouping)) ?? 0;
      return value === null ? total : total + Math.abs(value - middle);
    }, 0);
  };
  const candidates = table.columns.filter(({ numbers, index }) => {
    const groups = new Set(table.rows.map(({ cells }) => cells[index])).size;
    return numbers === undefined && groups > 1 && groups * 2 <= table.rows.length;
  });
  let best: Column | null = null;
  let least = spread(null);
  for (const candidate of candidates) {
    const own = spread(candidate);
    if (own >= least) continue;
    best = candidate;
    least = own;
  }
  return best;
}

function mediansOf({ rows }: Table, rate: Column, grouping: Column | null): Map<string, number> {
  const values = new Map<string, number[]>();
  for (const [place, row] of rows.entries()) {
    const value = rate.numbers?.[place] ?? null;
    const group = groupOf(row, grouping);
    if (value === null) continue;
    const known = values.get(group);
    if (known) known.push(value);
    else values.set(group, [value]);
  }
  return new Map([...values].map(([group, numbers]) => [group, median(numbers)]));
}

const groupOf = ({ cells }: Row, grouping: Column | null): string =>
  grouping === null ? "" : (cells[grouping.index] ?? "");

const negatives = ({ columns, rows }: Table): string[] =>
  columns.flatMap(({ name, numbers = [] }) =>
    rows.flatMap((row, place) =>
      (numbers[place] ?? 0) < 0 ? [`Line ${row.line}: ${name} is negative (${nameOf(row)}).`] : [],
    ),
  );

/** Columns with few empty cells. One that is mostly empty is meant to be. */
const gaps = ({ columns, rows }: Table): string[] =>
  columns.flatMap(({ name, index }) => {
    const empty = rows.filter(({ cells }) => (cells[index] ?? "").trim() === "");
    return empty.length === 0 || empty.length > rows.length / 2
      ? []
      : [
          `${name} is empty in line ${empty
            .map(({ line }) => line)
            .slice(0, 10)
            .join(", ")}.`,
        ];
  });

/** The first cells with a word, by which a reader finds the row. */
function nameOf({ cells }: Row): string {
  const words = cells.filter((cell) => /\p{L}{3}/u.test(cell));
  return (words.length > 0 ? words : cells.filter((cell) => cell !== "")).slice(0, 3).join(", ");
}
