/** Reads a CSV file as a table with columns of numbers and of text. */
import { type CsvLine, type Delimiter, readCsv } from "../../../../platform/read-csv.ts";
import { digitsOf, parseAmount } from "./table-numbers.ts";

/** A column is one of numbers if this part of its filled cells are. */
const NUMERIC_SHARE = 0.8;

/**
 * Bounds the work, which grows with the pairs of columns, and with the rows for each of them. A file is read up to
 * 50,000 characters: there are more cells only where rows are shorter than the names of the columns.
 */
const MAX_COLUMNS = 100;
const MAX_CELLS = 50_000;

export interface Row {
  /** The line of the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}
export interface Column {
  readonly name: string;
  readonly index: number;
  /** Null where the cell is not a number. Undefined for a column of text. */
  readonly numbers: readonly (number | null)[] | undefined;
  /** The digits after the point with which its numbers are shown. */
  readonly digits: number;
}
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** Returns null for a text without at least two columns and a row below their names, or with too many columns or cells. */
export function readTable(text: string): Table | null {
  const [head, ...body] = linesOf(text);
  if (head === undefined || head.fields.length < 2 || body.length === 0) return null;
  if (head.fields.length > MAX_COLUMNS) return null;
  if (head.fields.length * body.length > MAX_CELLS) return null;
  const rows = body.map(({ line, fields }) => ({ line, cells: fields }));
  const columns = head.fields.map((name, index): Column => {
    const cells = rows.map(({ cells: row }) => row[index]?.trim() ?? "");
    const numbers = cells.map(parseAmount);
    const filled = cells.filter((cell) => cell !== "").length;
    const isNumeric =
      filled > 0 && numbers.filter((one) => one !== null).length >= filled * NUMERIC_SHARE;
    return {
      name: name || `Column ${index + 1}`,
      index,
      numbers: isNumeric ? numbers : undefined,
      digits: digitsOf(numbers),
    };
  });
  return { columns, rows };
}

/** Returns the records with the delimiter that the first line has most of; none of a broken file. */
function linesOf(text: string): CsvLine[] {
  const [first = ""] = text.split("\n", 1);
  const count = (delimiter: Delimiter) => first.split(delimiter).length;
  const delimiter = ([",", ";", "\t"] as const).reduce((most, one) =>
    count(one) > count(most) ? one : most,
  );
  try {
    return readCsv(text, delimiter);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
