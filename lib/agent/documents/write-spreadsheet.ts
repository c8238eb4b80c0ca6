/** Writes CSV as a workbook, in the worker. */
import { type CellObject, type WorkSheet, write } from "@e965/xlsx";
import { CsvError, parse } from "csv-parse/sync";
import { DocumentError } from "./document.ts";
import type { WrittenDocument } from "./write-document.ts";

const MAX_ROWS = 200_000;
const MAX_CELLS = 2_000_000;
/** Limits of Excel. */
const MAX_COLUMNS = 16_384;
const MAX_CELL_CHARS = 32_767;
const MAX_SHEET_NAME_CHARS = 31;
const MAX_COLUMN_WIDTH = 60;
/** Rows whose texts are measured for the widths of columns. */
const MEASURED_ROWS = 1_000;

/** Longer integers are ids, such as a UPC, and Excel would show them in scientific notation. */
const NUMBER = /^-?(?:0|[1-9]\d{0,10})(?:\.\d+)?$/;
/** The digits that a number of Excel keeps. */
const MAX_DIGITS = 15;
const FIRST_DAY = "1900-03-01";
const DAY_MS = 86_400_000;

/** @throws DocumentError */
export function writeSpreadsheet(csv: string, name: string): WrittenDocument {
  const rows = parseCsv(csv);
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const cells = rows.reduce((sum, row) => sum + row.length, 0);
  if (rows.length > MAX_ROWS || cells > MAX_CELLS || columns > MAX_COLUMNS) {
    throw new DocumentError(
      `has more than ${MAX_ROWS} rows, ${MAX_CELLS} cells or ${MAX_COLUMNS} columns: split it`,
    );
  }
  const idColumns = columnsOfIds(rows);
  const data = rows.map((row) => row.map((text, column) => toCell(text, idColumns.has(column))));
  const sheet: WorkSheet = {
    "!ref": `A1:${columnName(Math.max(columns, 1) - 1)}${Math.max(rows.length, 1)}`,
    // The library writes no sheet without a row.
    "!data": data.length === 0 ? [[]] : data,
    "!cols": widthsOf(rows, columns).map((wch) => ({ wch })),
  };
  const sheetName = name.replace(/[[\]:*?/\\\p{Cc}]/gu, " ").slice(0, MAX_SHEET_NAME_CHARS);
  const title = sheetName.replace(/^[\s']+|[\s']+$/g, "") || "Sheet1";
  const book = { SheetNames: [title], Sheets: { [title]: sheet } };
  const bytes = write(book, { type: "array", bookType: "xlsx", compression: true, bookSST: true });
  return { bytes: new Uint8Array(bytes), rows: rows.length, columns };
}

function parseCsv(csv: string): string[][] {
  try {
    const rows: string[][] = parse(csv, { bom: true, relax_column_count: true, to: MAX_ROWS + 1 });
    return rows;
  } catch (error) {
    if (error instanceof CsvError) throw new DocumentError(`is no CSV: ${error.message}`);
    throw error;
  }
}

/** Returns the columns in which any digits start with a zero: all digits in them are ids. */
function columnsOfIds(rows: readonly (readonly string[])[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const row of rows) {
    for (const [column, text] of row.entries()) if (/^0\d+$/.test(text)) found.add(column);
  }
  return found;
}

/** Never returns a formula. A text that would lose anything as a number or date stays a text. */
function toCell(text: string, isId: boolean): CellObject {
  if (text === "") return { t: "z" };
  const digits = text.replace(/\D/g, "").length;
  const isNumber = NUMBER.test(text) && digits <= MAX_DIGITS && !/^-0(?:\.0+)?$/.test(text);
  if (isNumber && !(isId && /^\d+$/.test(text))) return { t: "n", v: Number(text) };
  const day = /^\d{4}-\d\d-\d\d$/.test(text) && text >= FIRST_DAY ? Date.parse(text) : Number.NaN;
  // JavaScript takes 30 February for 2 March.
  if (!Number.isNaN(day) && new Date(day).toISOString().startsWith(text)) {
    return { t: "n", v: (day - Date.UTC(1899, 11, 30)) / DAY_MS, z: "yyyy-mm-dd" };
  }
  if (text.length > MAX_CELL_CHARS) {
    throw new DocumentError(`has a cell of more than ${MAX_CELL_CHARS} characters`);
  }
  // Programs would read `_x0041_` as the character of this number.
  return { t: "s", v: text.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_") };
}

function widthsOf(rows: readonly (readonly string[])[], columns: number): number[] {
  const widths = new Array<number>(columns).fill(8);
  for (const row of rows.slice(0, MEASURED_ROWS)) {
    for (const [column, text] of row.entries()) {
      const width = Math.min(text.length + 2, MAX_COLUMN_WIDTH);
      widths[column] = Math.max(widths[column] ?? 0, width);
    }
  }
  return widths;
}

function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}
